"""Names that Rust's standard library owns. Data only; called by ``link_rust.py``.

``PRELUDE`` are names that are there without an import, ``OWNED`` methods that a call on an unknown receiver most likely means
when it has that name, ``TRANSPARENT`` methods that hand on what a pointer, option, result, lock or iterator holds.
"""

from __future__ import annotations

PRELUDE = frozenset(
    """
    Box Vec String Option Result Some None Ok Err Iterator IntoIterator DoubleEndedIterator ExactSizeIterator Extend Default
    Clone Copy
    Send Sync Sized Drop Fn FnMut FnOnce AsRef AsMut Into From TryFrom TryInto FromIterator ToOwned ToString PartialEq Eq
    PartialOrd Ord Debug Hash u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char str drop
    """.split()
)
TRANSPARENT = frozenset(
    """
    unwrap expect unwrap_or unwrap_or_default unwrap_or_else unwrap_unchecked as_ref as_mut as_deref as_deref_mut clone cloned
    copied
    borrow borrow_mut lock read write try_lock to_owned into_inner get_mut iter iter_mut into_iter ok ok_or ok_or_else map_err
    or or_else
    take replace insert get_or_insert_with get_or_init into deref deref_mut by_ref filter rev skip step_by take_while
    skip_while chain
    peekable enumerate inspect cycle fuse collect upgrade downgrade await context with_context drain values values_mut into_values
    as_slice as_mut_slice to_vec load_full unwrap_err leak into_boxed_slice
    """.split()
)
OWNED = TRANSPARENT | frozenset(
    """
    add all and and_then any append as_bytes as_mut_ptr as_os_str as_path as_ptr as_raw_fd as_str back binary_search borrow
    by_ref bytes
    capacity cast ceil chars checked_add checked_mul checked_sub chunks clear clone_from cmp concat contains contains_key
    copy_from_slice
    count create dedup default default_value drop elapsed end ends_with entry eq err exists exit extend extend_from_slice extension
    file_name file_type fill filter_map find find_map finish first first_mut flat_map flatten flush fmt fold for_each fract from
    from_iter from_str front ge get get_unchecked gt hash headers height id index index_mut into_bytes into_string
    is_alphabetic is_ascii
    is_char_boundary is_dir is_empty is_err is_file is_none is_ok is_some is_some_and join keys kind last last_mut le len
    len_utf8 lines
    lt map map_or map_or_else map_while max max_by max_by_key metadata min min_by min_by_key mul name ne neg next next_back not nth
    offset open or_default or_insert or_insert_with parent parse partial_cmp partition path peek pop pop_back pop_front position pow
    product ptr push push_back push_front push_str read_exact read_line read_to_end read_to_string recv reduce remove repeat reserve
    resize retain reverse rem rfind rsplit saturating_sub seek send set shift size_hint sleep sort sort_by sort_by_key
    sort_unstable source
    spawn splice split split_at split_first split_last split_off split_whitespace splitn start start_bound starts_with status stderr
    stdin stdout store strip_prefix strip_suffix sub sub_assign sum swap swap_remove then then_some then_with to_ascii_lowercase
    to_bytes to_lowercase to_ne_bytes to_path_buf to_string to_string_lossy to_uppercase trim trim_end trim_start truncate try_from
    try_into try_iter unzip update wait width windows with_capacity wrapping_add write_all write_char write_fmt write_str zip
    """.split()
)
