"""Names that the C library and POSIX own. A table; called by ``link_c.py``. What may not come in: names of other libraries."""

from __future__ import annotations

#: What no project can define: operators and specials that look like calls.
ANYWHERE = frozenset("va_start va_end va_arg va_copy assert static_assert offsetof alloca errno defined".split())

#: Functions of C17 and POSIX.1-2017 (and the few of the GNU and BSD libraries that everybody uses).
LIBRARY = frozenset(
    """
    abort abs accept access acos acosh aligned_alloc alarm asctime asctime_r asin asinh asprintf at_quick_exit atan atan2 atanh
    atexit atof atoi atol atoll bcmp bcopy bind bsearch btowc bzero calloc cbrt ceil cfsetispeed cfsetospeed chdir chmod chown
    clearerr clock clock_getres clock_gettime clock_nanosleep clock_settime close closedir closelog confstr connect copysign cos
    cosh creat ctermid ctime ctime_r daemon difftime dirfd dirname basename div dlclose dlerror dlopen dlsym dprintf dup dup2
    endgrent endpwent erf erfc err errx execl execle execlp execv execve execvp exit _exit _Exit exp exp2 expm1 fabs faccessat fchdir
    fchmod fchmodat fchown fchownat fclose fcntl fdatasync fdim fdopen fdopendir feof ferror fflush ffs fgetc fgetpos fgets fgetwc
    fgetws fileno flock floor fma fmax fmemopen fmin fmod fnmatch fopen fork fpathconf fpclassify fprintf fputc fputs fputwc fputws
    fread free freeaddrinfo freeifaddrs freopen frexp fscanf fseek fseeko fsetpos fstat fstatat fstatvfs fsync ftell ftello ftok
    ftruncate ftw futimens fwide fwprintf fwrite fwscanf gai_strerror getaddrinfo getc getc_unlocked getchar getcwd getdelim
    getegid getenv geteuid getgid getgrent getgrgid getgrgid_r getgrnam getgrnam_r getgroups gethostbyaddr gethostbyname
    gethostname getifaddrs getitimer getline getlogin getnameinfo getopt getopt_long getpagesize getpeername getpgid getpgrp getpid
    getppid getpriority getpwent getpwnam getpwnam_r getpwuid getpwuid_r getrandom getrlimit getrusage gets getservbyname getsid
    getsockname getsockopt gettid gettimeofday getuid getwc getwchar glob globfree gmtime gmtime_r grantpt htonl htons hypot iconv
    iconv_close iconv_open if_indextoname if_nametoindex ilogb imaxabs index inet_addr inet_aton inet_ntoa inet_ntop inet_pton ioctl
    isalnum isalpha isascii isatty isblank iscntrl isdigit isfinite isgraph isinf islower isnan isnormal isprint ispunct isspace
    isupper iswalnum iswalpha iswdigit iswspace isxdigit kill killpg labs lchown ldexp ldiv lgamma link linkat listen llabs lldiv
    llrint llround localeconv localtime localtime_r lockf log log10 log1p log2 longjmp lrint lround lseek lstat madvise malloc mblen
    mbrlen mbrtowc mbsinit mbsrtowcs mbstowcs mbtowc memccpy memchr memcmp memcpy memmem memmove mempcpy memrchr memset mkdir mkdirat
    mkdtemp mkfifo mknod mkstemp mktemp mktime mlock mlockall mmap modf mprotect mremap msync munlock munmap nan nanosleep nearbyint
    nextafter nftw nice nl_langinfo ntohl ntohs open open_memstream openat opendir openlog openpty pathconf pause pclose perror pipe
    pipe2 poll popen posix_fadvise posix_fallocate posix_memalign posix_spawn posix_spawnp pow ppoll pread printf pselect
    pthread_atfork pthread_attr_destroy pthread_attr_init pthread_attr_setdetachstate pthread_attr_setstacksize pthread_cancel
    pthread_cond_broadcast pthread_cond_destroy pthread_cond_init pthread_cond_signal pthread_cond_timedwait pthread_cond_wait
    pthread_create pthread_detach pthread_equal pthread_exit pthread_getspecific pthread_join pthread_key_create pthread_key_delete
    pthread_kill pthread_mutex_destroy pthread_mutex_init pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock
    pthread_mutexattr_destroy pthread_mutexattr_init pthread_mutexattr_settype pthread_once pthread_rwlock_destroy
    pthread_rwlock_init pthread_rwlock_rdlock pthread_rwlock_unlock pthread_rwlock_wrlock pthread_self pthread_setcancelstate
    pthread_setname_np pthread_setspecific pthread_sigmask ptrace ptsname putc putchar putenv puts putwc putwchar pwrite qsort
    qsort_r quick_exit raise rand rand_r random read readdir readdir_r readlink readlinkat readv realloc reallocarray realpath recv
    recvfrom recvmsg regcomp regerror regexec regfree remainder remove rename renameat rewind rewinddir rindex rint rmdir round
    sbrk scanf sched_yield seekdir select sem_destroy sem_init sem_post sem_timedwait sem_trywait sem_wait send sendfile sendmsg
    sendto setbuf setegid setenv seteuid setgid setgrent setgroups setitimer setjmp setlinebuf setlocale setlogmask setpgid
    setpriority setpwent setregid setreuid setrlimit setsid setsockopt setuid setvbuf shm_open shm_unlink shmat shmctl shmdt shmget
    shutdown sigaction sigaddset sigaltstack sigdelset sigemptyset sigfillset sigismember siglongjmp signal signbit sigpending
    sigprocmask sigqueue sigsetjmp sigsuspend sigwait sin sinh sleep snprintf socket socketpair sprintf sqrt srand srandom sscanf
    stat statfs statvfs stpcpy stpncpy strcasecmp strcasestr strcat strchr strchrnul strcmp strcoll strcpy strcspn strdup strerror
    strerror_r strftime strlcat strlcpy strlen strncasecmp strncat strncmp strncpy strndup strnlen strpbrk strptime strrchr strsep
    strsignal strspn strstr strtod strtof strtoimax strtok strtok_r strtol strtold strtoll strtoq strtoul strtoull strtoumax strxfrm
    swprintf symlink symlinkat sync syscall sysconf sysinfo syslog system tan tanh tcgetattr tcsetattr telldir tgamma time
    timegm timer_create timer_delete timer_settime times tmpfile tmpnam tolower toupper towlower towupper trunc truncate ttyname
    tzset umask uname ungetc ungetwc unlink unlinkat unlockpt unsetenv usleep utime utimensat utimes vasprintf vdprintf verr verrx
    vfork vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf vsyslog vwarn vwarnx wait wait3 wait4 waitid waitpid warn warnx
    wcrtomb wcscat wcschr wcscmp wcscpy wcslen wcsncmp wcsncpy wcsrtombs wcsstr wcstod wcstol wcstombs wctomb wcwidth wmemcpy wmemset
    write writev
    """.split()
)
