"""Names that Ruby itself owns: constants, methods of every object and class, methods of its classes. Data, read by ``link_ruby.py``.

From the signatures of the core and parts of the standard library (ruby/rbs, names only), and the words of RSpec and Minitest. What
may not come in: code.
"""

from __future__ import annotations

CONSTANTS = frozenset(
    """
ARGF ARGV ArgumentError Array BasicObject Binding Class ClosedQueueError Comparable Complex ConditionVariable Data Dir
ENV EOFError Encoding EncodingError Enumerable Enumerator Errno Exception FalseClass Fiber FiberError File FileTest
Float FloatDomainError FrozenError GC Gem Hash IO IOError IndexError Integer Interrupt Kernel KeyError LoadError
LocalJumpError Marshal MatchData Math Method Module Mutex NameError NilClass NoMatchingPatternError
NoMatchingPatternKeyError NoMemoryError NoMethodError NotImplementedError Numeric Object ObjectSpace Pathname Proc
Process Queue RUBY_ENGINE RUBY_PLATFORM RUBY_VERSION Ractor Random Range RangeError Rational RbConfig Refinement
Regexp RegexpError Ruby RubyVM RuntimeError STDERR STDIN STDOUT ScriptError SecurityError Set Signal SignalException
SizedQueue StandardError StopIteration String Struct Symbol SyntaxError SystemCallError SystemExit SystemStackError
TOPLEVEL_BINDING Thread ThreadError ThreadGroup Time TracePoint TrueClass TypeError UnboundMethod UncaughtThrowError
Warning ZeroDivisionError
""".split()
)
"""Classes and modules of the core."""

CLASSES = frozenset(
    """
alias_method allocate ancestors append_features attached_object attr attr_accessor attr_reader attr_writer autoload
autoload? class_eval class_exec class_variable_defined? class_variable_get class_variable_set class_variables
const_added const_defined? const_get const_missing const_set const_source_location constants define_method
deprecate_constant equal? extend_object extended freeze include include? included included_modules inherited
initialize initialize_clone inspect instance_method instance_methods method_added method_defined? method_removed
method_undefined module_eval module_exec module_function name nesting new prepend prepend_features prepended private
private_class_method private_constant private_instance_methods private_method_defined? protected
protected_instance_methods protected_method_defined? public public_class_method public_constant public_instance_method
public_instance_methods public_method_defined? refine refinements remove_class_variable remove_const remove_method
ruby2_keywords set_temporary_name singleton_class? subclasses superclass to_s undef_method undefined_instance_methods
used_modules used_refinements using
""".split()
)
"""Methods of every class and module."""

EVERYWHERE = frozenset(
    """
__callee__ __dir__ __id__ __method__ __send__ abort at_exit autoload autoload? binding block_given? call caller
caller_locations catch class clone define_singleton_method display dup enum_for eql? equal? eval exec exit exit!
extend fail fork format freeze frozen? gem gets global_variables hash initialize initialize_clone initialize_copy
initialize_dup inspect instance_eval instance_exec instance_of? instance_variable_defined? instance_variable_get
instance_variable_set instance_variables is_a? iterator? itself kind_of? lambda load local_variables loop method
method_missing methods nil? object_id open p pp print printf private_methods proc protected_methods public_method
public_methods public_send putc puts raise rand readline readlines remove_instance_variable require require_relative
respond_to? respond_to_missing? select send singleton_class singleton_method singleton_method_added
singleton_method_removed singleton_method_undefined singleton_methods sleep spawn sprintf srand syscall system tap
test then throw to_enum to_s trace_var untrace_var using warn yield_self
""".split()
)
"""Methods of every object."""

WORDS = frozenset(
    """
after aggregate_failures all allow allow_any_instance_of and_call_original and_raise and_return are_expected around
assert assert_changes assert_difference assert_empty assert_enqueued_with assert_equal assert_in_delta
assert_in_epsilon assert_includes assert_instance_of assert_kind_of assert_match assert_nil assert_no_changes
assert_no_difference assert_not assert_not_equal assert_not_nil assert_nothing_raised assert_operator assert_output
assert_predicate assert_raise assert_raises assert_redirected_to assert_respond_to assert_response assert_same
assert_select assert_send assert_silent assert_throws be be_a be_an be_an_instance_of be_empty be_false be_falsey
be_kind_of be_nil be_true be_truthy be_valid be_within before change class_double contain_exactly context describe
described_class double end_with eq eql expect expect_any_instance_of flunk have_attributes have_received include
include_context include_examples instance_double is_expected it it_behaves_like let let! match match_array mock not_to
object_double once pending raise_error receive receive_messages refute refute_empty refute_equal refute_includes
refute_instance_of refute_kind_of refute_match refute_nil refute_predicate refute_respond_to refute_same satisfy setup
shared_context shared_examples skip spy start_with stub subject subject! teardown throw_symbol to to_not twice with
yield_control yield_with_args
""".split()
)
"""Words of RSpec and Minitest, which a test calls on itself."""

OWNED = frozenset(
    """
__callee__ __dir__ __getobj__ __id__ __init__ __method__ __send__ __setobj__ _dump _fork _httpdate _id2ref _iso8601
_jisx0301 _load _parse _require _rfc2822 _rfc3339 _rfc822 _strptime _xmlschema abort abort_on_exception abs abs2
absolute? absolute_path absolute_path? acos acosh activated_gem_paths add add? add_log_header add_to_load_path
add_trace_func add_trailing_separator advise ajd alias_method aliases alive? all? all_symbols all_tokens allbits?
allocate allow_reentry amjd ancestors angle any? anybits? append append_as_bytes append_features
approximate_recommendation arg args argv argv0 arity as_json ascend ascii_compatible? ascii_only? asciicompat_encoding
asctime asin asinh assoc at at_exit atan atan2 atanh atime attached_object attr attr_accessor attr_reader attr_writer
attributes authority auto_compact autoclose? autoload autoload? b backtrace backtrace_locations base_label basename
begin between? bin_path binary_mode bind bind_call binding bindir binmode binmode? binread binwrite birthtime
bit_length blksize block_given? blockdev? blocking blocking? blocks broadcast bsearch bsearch_index build build2
build_path_query bump bytebegin byteend byteindex byteoffset byterindex bytes bytesize byteslice bytesplice cache_home
call callee_id caller caller_locations canonical_segments capitalize capitalize! captures casecmp casecmp? casefold?
catch categories cause cbrt ceil ceildiv center chain change_privilege chardev? chars chdir check_host check_opaque
check_password check_path check_port check_registry check_scheme check_shift_log check_user check_userinfo children
chmod chomp chomp! chop chop! chop_basename chown chr chroot chunk chunk_while civil clamp class class_eval class_exec
class_variable_defined? class_variable_get class_variable_set class_variables classify cleanpath cleanpath_aggressive
cleanpath_conservative clear clear_default_specs clear_paths clock_getres clock_gettime clone close close!
close_on_exec? close_read close_write closed? closed_read? closed_write? code_gc codepoints coerce collect collect!
collect_concat combination commercial compact compact! compare_by_identity compare_by_identity? compatible? compile
component component_ary concat config config_file config_home configuration conj conjugate const_added const_defined?
const_get const_missing const_set const_source_location constants convert convpath copy copy_stream coredump? correct?
cos cosh count count_objects cover? create create_id create_logfile crypt ctime current current_scheduler curry cwday
cweek cwyear cycle daemon data_home datetime_format day debug debug! debug? decode_uri_component decode_www_form
decode_www_form_component deconstruct deconstruct_keys dedup def_class def_erb_method def_instance_delegator
def_instance_delegators def_method def_module def_single_delegator def_single_delegators default default_bindir
default_cert_path default_dir default_exec_format default_ext_dir_for default_external default_internal
default_key_path default_path default_port default_prerelease default_proc default_rubygems_dirs default_sources
default_spec_cache_dir default_specifications_dir define define_finalizer define_method define_singleton_method
defined_class deflate del_trailing_separator delegating_block delete delete! delete? delete_at delete_if delete_prefix
delete_prefix! delete_suffix delete_suffix! denominator deprecate_constant deq descend destination_encoding
destination_encoding_name detach detailed_message detect dev dev_major dev_minor difference dig digits dir directory?
dirname disable disable_system_update_message disasm disassemble disjoint? display div divide divmod dn
done_installing done_installing_hooks downcase downcase! downto drop drop_while dst? dummy? dump dump_default_options
dump_exit_locations dup each each_byte each_caller_location each_char each_child each_codepoint each_cons each_entry
each_filename each_grapheme_cluster each_index each_key each_line each_object each_pair each_slice each_value
each_with_index each_with_object eager egid eid empty? enable enabled? enclose enclosed? encode encode!
encode_uri_component encode_www_form encode_www_form_component encoding end end_with? england enq
ensure_default_gem_subdirectories ensure_gem_subdirectories enter entries enum_for env_requirement eof eof? eql?
equal? erf erfc errno error error! error? error_bytes error_char escape escape_userpass euid eval eval_script even?
event exact? except exception exclude_end? exec executable? executable_real? exist? exit exit! exit_value exited?
exitstatus exp expand expand_path expm1 extend extend_object extended extensions external? external_encoding extname
extract fail fast_generate fatal fatal! fatal? fchdir fcntl fdatasync fdiv feed fetch fetch_values file file? filename
fileno fill filter filter! filter_map find find_all find_config_file find_files find_index find_latest_files
find_proxy find_unresolved_default_spec finish finish_resolve finite? fire_update! first first_column first_lineno
fixed_encoding? flat_map flatten flatten! flock floor flush fnmatch fnmatch? for for_fd force force_encoding foreach
fork format format_datetime format_message format_number format_number_pct format_severity formatter free freeze frexp
friday? from_name frozen? fsync ftype full_message gamma garbage_collect gcd gcdlcm gemdeps generate generator
get_encoding get_string get_value getbyte getc geteuid getgid getgm getkey getlocal getpgid getpgrp getpriority
getrlimit gets getsid getuid getutc getwd gid glob global_variables gm gmt? gmt_offset gmtime gmtoff grant_privilege
grapheme_clusters gregorian gregorian? gregorian_leap? grep grep_v group group_by groups grpowned? gsub gsub!
handle_interrupt has_key? has_trailing_separator? has_value? hash headers hex hexdump hierarchical? home host hostname
hour html_escape httpdate hypot i id2name identical? imag imaginary import_methods include include? included
included_modules incomplete_input? index infinite? info info! info? inherited initgroups initialize initialize_clone
initialize_copy initialize_dup inject ino inplace_mode insert insert_output inspect install instance instance_delegate
instance_eval instance_exec instance_method instance_methods instance_of? instance_variable_defined?
instance_variable_get instance_variable_set instance_variables instruction_sequence integer? intern internal?
internal_encoding intersect? intersection invert ioctl is_a? isatty isdst iso8601 issetugid italy iterator? itself j
java_platform? jd jisx0301 jj join json_create julian julian? julian_leap? keep_if key key? keys keyword_init? kill
kind_of? label lambda lambda? last last_column last_error last_lineno last_match latest_compact_info latest_gc_info
latest_rubygems_version latest_spec_for latest_version_for lazy lchmod lchown lcm ld ldexp leap? left length level
lgamma limit linear_time? lineno lines link list ljust load load_default_options load_env_plugins load_file load_file!
load_path_insert_index load_plugins load_yaml loaded_specs local local_variable_defined? local_variable_get
local_variable_set local_variables locale_charmap localtime location_of_caller locations lock lock_shift_log locked
locked? log log10 log1p log2 loop lstat lstrip lstrip! lutime magnitude main main? make_link make_regexp
make_shareable make_symlink map map! mapped? marshal_dump marshal_load marshal_version match match? match_length
matchee max max_by maxgroups mday measure_total_time member? members merge merge! merge_path message method
method_added method_defined? method_id method_missing method_removed method_undefined methods min min_by minmax
minmax_by minute mjd mkdir mkfifo mkpath mktime mode module_eval module_exec module_function modulo mon
mon_check_owner mon_enter mon_exit mon_initialize mon_locked? mon_owned? mon_synchronize mon_try_enter monday? monitor
month mountpoint? msg2str mtime name name_list named_captures names nan? native_thread_id needs negative? nesting new
new_cond new_offset new_seed new_start next next! next_day next_float next_month next_rotate_time next_values
next_year nil? nlink nobits? node_id_for_backtrace_location none? nonzero? normalize normalize! now nsec null?
num_waiting numerator object_id oct odd? of offset one? open open_logfile opendir operating_system_defaults options
ord ordinal origin original_name overlap? owned? owner p pack parameters parent parse parse! parse_dn parse_file
parse_query parser partition pass password path path_separator pathconf paths peek peek_values pending_interrupt?
permutation phase pid pipe pipe? platform_defaults platforms plugin_suffix_pattern plugin_suffix_regexp plugindir plus
polar pop popen pos positive? post_build post_build_hooks post_install post_install_hooks post_match post_reset
post_reset_hooks post_uninstall post_uninstall_hooks pow pp ppid pre_install pre_install_hooks pre_match pre_reset
pre_reset_hooks pre_uninstall pre_uninstall_hooks pread pred prefix prepend prepend_features prepend_prefix prepended
prerelease? pretty_generate prev_day prev_float prev_month prev_year previous_period_end primitive_convert
primitive_errinfo print printf priority private private_call? private_class_method private_constant
private_instance_methods private_method_defined? private_methods proc produce product progname proper_subset?
proper_superset? protected protected_instance_methods protected_method_defined? protected_methods public public_api
public_class_method public_constant public_instance_method public_instance_methods public_method
public_method_defined? public_methods public_send push putback putc puts pwd pwrite quo quote ractor raise
raised_exception rand random_number rassoc rationalize raw_data rdev rdev_major rdev_minor re_exchange
re_exchangeable? read read_binary read_nonblock readable? readable_real? readagain_bytes readbyte readchar readline
readlines readlink readonly? readpartial real real? realdirpath realpath reason receive receive_if receiver rect
rectangular recv reduce refine refinements refresh regexp register_default_spec registry rehash reject reject!
relative? relative_path_from release remainder reminder remove_class_variable remove_const remove_instance_variable
remove_method rename reopen repeated_combination repeated_permutation replace replace! replacement report
report_on_exception request_uri require require_relative reset reset_stats! resize resolve_feature_path respond_to?
respond_to_missing? restore result result_with_hash resume return_value reverse reverse! reverse_each rewind rfc2822
rfc3339 rfc822 rfind rid rindex rjust rmdir rmtree root? rotate rotate! round route_from route_from0 route_from_path
route_to rpartition rstrip rstrip! ruby ruby2_keywords ruby_api_version ruby_engine ruby_version rubygems_version run
runtime_stats safe_level sample satisfied_by? saturday? scan schedule scheduler scheme_list scope script_lines scrub
scrub! search_convpath sec sec_fraction second second_fraction seed seek select select! self send set_attributes
set_backtrace set_dev set_dn set_encoding set_encoding_by_bom set_extensions set_filter set_host set_opaque
set_password set_path set_port set_registry set_scheduler set_scheme set_scope set_string set_temporary_name set_user
set_userinfo set_value setbyte setegid seteuid setgid setgid? setpgid setpriority setproctitle setregid setresgid
setresuid setreuid setrgid setrlimit setruid setsid setuid setuid? shareable? shareable_lambda shareable_proc shift
shift_log_age shift_log_period shuffle shuffle! sid_available? signal signaled? signame signm signo sin
single_delegate singleton_class singleton_class? singleton_method singleton_method_added singleton_method_removed
singleton_method_undefined singleton_methods sinh size size? skip sleep slice slice! slice_after slice_before
slice_when socket? sort sort! sort_by sort_by! source source_date_epoch source_date_epoch_string source_encoding
source_encoding_name source_location sources spawn spec_cache_dir specific? split split_names split_path
split_userinfo sprintf sqrt squeeze squeeze! srand src start start_with? stat stat_heap state stats_enabled?
stats_string status step sticky? stop stop? stopped? stopsig storage store store_if_absent stress strftime string
strip strip! strptime sub sub! sub_ext subclasses subsec subset? subtract succ succ! success? suffix_pattern
suffix_regexp suffixes sum sunday? super_method superclass superset? swapcase swapcase! switch symlink symlink? sync
synchronize syscall sysopen sysread sysseek system syswrite tag taint take take_while tally tan tanh tap target
target_respond_to? tell terminate termsig test then thread_variable? thread_variable_get thread_variable_set
thread_variables throw thursday? time timeout times to to_a to_ary to_binary to_c to_date to_datetime to_enum to_f
to_h to_hash to_i to_int to_io to_json to_mailtext to_path to_proc to_r to_regexp to_rfc822text to_s to_set to_str
to_sym to_time to_tty? to_write_io today tokens total_time tr tr! tr_s tr_s! trace trace_points trace_var transfer
transform_keys transform_keys! transform_values transform_values! transpose trap truncate try_activate try_convert
try_enter try_lock tty? tuesday? tv_nsec tv_sec tv_usec type ui uid umask unbind undef_method undefine_finalizer
undefined_instance_methods undump unescape ungetbyte ungetc unicode_normalize unicode_normalize! unicode_normalized?
union uniq uniq! unknown unlink unlock unmonitor unpack unpack1 unshift untaint untrace_var upcase upcase! update upto
urandom url_encode use_gemdeps use_paths use_proxy? use_registry usec used_modules used_refinements user user_dir
user_home userinfo using utc utc? utc_offset utime valid? valid_civil? valid_commercial? valid_date? valid_encoding?
valid_jd? valid_ordinal? value value? values values_at verify_compaction_references verify_internal_consistency
version wait wait2 wait_for_cond wait_readable wait_until wait_while wait_writable waitall waitpid waitpid2 wakeup
warmup warn warn! warn? wday wednesday? win_platform? with with_index with_object world_readable? world_writable?
writable? writable_real? write write_binary write_nonblock xmlschema yday year yield yield_self zero? zip zone
zone_offset
""".split()
)
"""Methods of the classes of the core: on an unknown receiver such a name is nobody's for certain."""
