"""Names of methods that Go's standard library has (the exported ones of 1.19, internal packages and commands left out). Data only.

Called by ``link_go.py``: a call of such a name on an unknown receiver is not drawn to the repository's one method of that name.
"""

from __future__ import annotations

OWNED = frozenset(
    """
    AOffset Abs Acc Accept AcceptTCP AcceptUnix Add AddCert AddCookie AddDate AddFile AddFloat AddLine AddLineColumnInfo
    AddLineInfo AddMethod AddParseTree AddSection AddTypes AddX Addr AddrPort AddressList AddressSize Addressable Addrs
    AdjustStream After Alert Align Alignof AllocedBytesPerOp AllocsPerOp Alpha16At AlphaAt And AndNot Anonymous Append
    AppendCertsFromPEM AppendFormat AppendTo AppendUint16 AppendUint32 AppendUint64 Arg Args As As16 As4 AsSlice Assign
    Assignable AssignableTo At AttrField Auth Authenticate Available AvailableBuffer Back Base BaseContext BaseName Basic
    BasicAuth Before Begin BeginTx Binomial Bit BitLen Bits BlankBefore BlankBetween BlockSize Bool BoolVar BoundAddr Boundary
    Bounds BreakWithError Broadcast Buffer Buffered BuildNameToCertificate ByteOrder Bytes CMYKAt COFFSymbolReadSectionDefAux
    COffset Call CallSlice CanAddr CanComplex CanConvert CanFloat CanInt CanInterface CanSet CanTakeNewRequest CanUint
    CancelRequest Canon Cap CapNames Certificate ChanDir Chdir Check CheckCRLSignature CheckCorpus CheckNamedValue
    CheckSignature CheckSignatureFrom Child Chmod Chown Classify Cleanup Clear Client Clock Clone Close CloseClientConnections
    CloseConn CloseIdleConnections CloseNotify CloseRead CloseStream CloseWithError CloseWrite Cmd Cmp CmpAbs ColorIndexAt
    ColorModel ColumnConverter ColumnTypeDatabaseTypeName ColumnTypeLength ColumnTypeNullable ColumnTypePrecisionScale
    ColumnTypeScanType ColumnTypes Columns CombinedMult CombinedOutput Comment Comments Commit Common Comparable Compare
    CompareAndSwap Complete Complex Compose Conn Connect ConnectionState ConstantTimeSum Constraint Consume Contains Context
    Continued Control Convert ConvertValue ConvertibleTo Cookie Cookies CoordinateFuzzing Copy CopyList CopyPipe CoreDump Count
    CrashPath Create CreateCRL CreateFormField CreateFormFile CreateHeader CreatePart CreateRaw Crit CryptBlocks CurveID DWARF
    Data DataOffset DataSize DataStart DatabaseTypeName Date Day Deadline Debug DebugData DecimalSize Decode DecodeElement
    DecodeHeader DecodeString DecodeValue DecodedLen Decompose Decrypt DefaultID DefaultMask DefaultURL DefinedTemplates Defn
    Del Delete Delims Denom Dial DialContext DialWithConn Dir DisallowUnknownFields Discard Div DivMod Do Done DotReader
    DotWriter Double Draw Driver Drop Duration DurationVar Dx Dy DynString DynamicSymbols Elem Embedded EmbeddedType Emerg Empty
    Encode EncodeElement EncodeToString EncodeToken EncodeValue EncodedLen Encrypt End EndRequest EndResponse Entry Environ Eq
    Equal Err Error ErrorContext ErrorDetail ErrorHandling Errorf EscapeString EscapedFragment EscapedPath Eval ExactString Exec
    ExecContext Execute ExecuteTemplate ExitCode ExitStatus Exited Exp ExpFloat64 Expand ExpandString ExplicitMethod
    ExportKeyingMaterial Exported Extension F Fail FailNow Failed Fatal Fatalf Fatalln Fd Field FieldAlign FieldByIndex
    FieldByIndexErr FieldByName FieldByNameFunc FieldPos File FileInfo FileLine FileName Files FillBytes FillFromRDNSequence
    Filter Find FindAll FindAllIndex FindAllString FindAllStringIndex FindAllStringSubmatch FindAllStringSubmatchIndex
    FindAllSubmatch FindAllSubmatchIndex FindIndex FindProc FindReaderIndex FindReaderSubmatchIndex FindString FindStringIndex
    FindStringSubmatch FindStringSubmatchIndex FindSubmatch FindSubmatchIndex First Flag Flags Float Float32 Float64
    Float64Histogram Float64Var FloatString Flush ForeachSetting FormDataContentType FormFile FormName FormValue Format Fprint
    Framer Front FullName Func Funcs Fuzz GCD Generate Get GetClientConn GetEra GetTokenPrimaryGroup GetTokenUser
    GetUserProfileDirectory Glob Go GoString GobDecode GobEncode Gray16At GrayAt GroupIds Grow HTML Handle HandleFunc HandleHTTP
    Handler Handshake HandshakeContext Has HasDuplicates HasExpired HasNextResultSet HasOk HasPriority HashFunc Head Header
    HeaderBlockFragment HeaderEncoder HeadersEnded Hello Helper Hijack Hostname Hour Hours ISOWeek Id Implements Import
    ImportDir ImportFrom ImportPath Imported ImportedLibraries ImportedSymbols Imports In InUseBytes InUseObjects Indent Index
    Indirect Info Init Innermost InputOffset InputPos Insert InsertAfter InsertBefore Inset InstanceOf Int Int31 Int31n Int63
    Int63n Int64 Int64Var IntVar Interface InterfaceData Intersect Intn Inv Inverse Invoke Is Is4 Is4In6 Is6 IsAbs IsAck IsAlias
    IsAll IsBoolFlag IsBuiltin IsCommand IsComparable IsDST IsDir IsEmpty IsExported IsField IsGlobalUnicast
    IsHTTP2NoCachedConnError IsImplicit IsInf IsInt IsInt64 IsInterfaceLocalMulticast IsKeyword IsLinkLocalMulticast
    IsLinkLocalUnicast IsLiteral IsLoopback IsMethodSet IsMulticast IsNaN IsNil IsNull IsOnCurve IsOperator IsPrivate IsRegular
    IsSingleIP IsType IsUint64 IsUndefined IsUnspecified IsValid IsValue IsVariadic IsVoid IsZero Iterate JoinPath Key Keys Kill
    Kind Label LastInsertId Len Length Less Line LineCount LineReader LineStart LineToPC Link Listen ListenAndServe
    ListenAndServeTLS ListenPacket LiteralPrefix Load LoadAndDelete LoadOrStore Local LocalAddr Location Lock Log Logf Longest
    Lookup LookupAccount LookupAddr LookupCNAME LookupFunc LookupHost LookupIP LookupIPAddr LookupMX LookupMethod LookupNS
    LookupNetIP LookupParent LookupPort LookupSRV LookupSym LookupTXT Lsh M Mail MantExp MapIndex MapKeys MapRange MarkComplete
    MarkDead MarkImplicit Markdown Marshal MarshalBinary MarshalJSON MarshalText MarshalXML MarshalXMLAttr Mask Masked Match
    MatchEmptyWidth MatchFile MatchReader MatchRune MatchRunePos MatchString MaxCap MemString MergeLine Method MethodByName
    Microseconds Milliseconds MinPrec Minute Minutes Mmap Mod ModInverse ModSqrt ModTime Mode Month More Move MoveAfter
    MoveBefore MoveToBack MoveToFront Mul MulRange MulticastAddrs MultipartReader Multistream Munmap MustFindProc NArg NFlag
    NRGBA64At NRGBAAt NYCbCrAAt Name Names Nano Nanosecond Nanoseconds Neg NetConn Network New NewCBCDecrypter NewCBCEncrypter
    NewCTR NewClientConn NewGCM NewProc Next NextPart NextRawPart NextResultSet NonceSize Noop NormFloat64 Not Notice NsPerOp
    Null Nullable Num NumCalls NumChildren NumEmbeddeds NumExplicitMethods NumField NumFields NumIn NumInput NumMethod
    NumMethods NumOut NumSettings NumSubexp OCSPResponse Obj ObjectOf Offset Offsetsof Opaque Open OpenConnector OpenRaw
    OpenStream Option Or Origin Out Output OverflowComplex OverflowFloat OverflowInt OverflowUint Overhead Overlaps PC PCToFunc
    PCToLine PackageName Panic Panicf Panicln Parallel Params Parent Parse ParseFS ParseFiles ParseForm ParseGlob ParseList
    ParseMultipartForm Parsed Parser Password Path Payload Peek Pending Perm Pid Ping PingContext PixOffset Pkg PkgPath Pointer
    Pop Port Pos Position PositionFor Post PostForm PostFormValue Prec Precedence Precision Precompute Prefix Prepare
    PrepareContext Prev Print PrintDefaults Printer Printf PrintfLine Println ProbablyPrime ProtoAtLeast PseudoFields
    PseudoValue Public PublicKey PublicSuffix Push PushBack PushBackList PushFront PushFrontList Put PutUint16 PutUint32
    PutUint64 Quantize Query QueryContext QueryRow QueryRowContext Quit Quo QuoRem RGBA RGBA64At RGBAAt RLock RLocker RUnlock
    Rand Range Ranges Rat RatString Raw RawToken Rcpt Read ReadAll ReadAt ReadBit ReadBits ReadBits64 ReadByte ReadBytes
    ReadCodeLine ReadContinuedLine ReadContinuedLineBytes ReadCorpus ReadData ReadDir ReadDotBytes ReadDotLines ReadFile
    ReadForm ReadFrame ReadFrom ReadFromIP ReadFromUDP ReadFromUDPAddrPort ReadFromUnix ReadLine ReadLineBytes ReadMIMEHeader
    ReadMsgIP ReadMsgUDP ReadMsgUDPAddrPort ReadMsgUnix ReadRequestBody ReadRequestHeader ReadResponse ReadResponseBody
    ReadResponseHeader ReadRune ReadSlice ReadString Readdir Readdirnames Reader ReceiverName Recv RecvTypeParams Redacted
    Referer Register RegisterCompressor RegisterDecompressor RegisterName RegisterOnShutdown RegisterProtocol RegularFields
    Release Rem RemoteAddr Remove RemoveAll RemoveMultiples Replace ReplaceAll ReplaceAllFunc ReplaceAllLiteral
    ReplaceAllLiteralString ReplaceAllString ReplaceAllStringFunc ReportAllocs ReportMetric RequestURI ReserveNewRequest Reset
    ResetCoverage ResetSession ResetTimer ResolveReference Result Results RightAlign Rollback Round RoundDown RoundTrip
    RoundTripErr RoundTripOpt RoundUp RoundedInteger RowsAffected Rsh Run RunFuzzWorker RunParallel RuntimeError ScalarBaseMult
    ScalarMult Scan ScanType Scope Seal Search Second Seconds Section SectionByType Seed Seek SeekPC Segment Send Serve
    ServeCodec ServeConn ServeHTTP ServeRequest ServeTLS Set SetAlpha SetAlpha16 SetBasicAuth SetBit SetBits SetBool SetBoundary
    SetBytes SetCMYK SetCap SetColorIndex SetComment SetComplex SetConnMaxIdleTime SetConnMaxLifetime SetConstraint
    SetControllen SetCookies SetDeadline SetDoNotReuse SetEra SetEscapeHTML SetFlags SetFloat SetFloat64 SetFrac SetFrac64
    SetGray SetGray16 SetIV SetImports SetIndent SetIndex SetInf SetInt SetInt64 SetIterKey SetIterValue SetKeepAlive
    SetKeepAlivePeriod SetKeepAlivesEnabled SetLen SetLines SetLinesForContent SetLinger SetMantExp SetMapIndex SetMaxIdleConns
    SetMaxOpenConns SetMaxReadFrameSize SetModTime SetMode SetNRGBA SetNRGBA64 SetName SetNoDelay SetOffset SetOutput SetPC
    SetPanicOnExit0 SetParallelism SetPointer SetPos SetPrec SetPrefix SetRGBA SetRGBA64 SetRat SetReadBuffer SetReadDeadline
    SetReuseFrames SetSeed SetSessionTicketKeys SetString SetTree SetTypeParams SetUint SetUint64 SetUnderlying SetUnlinkOnClose
    SetWriteBuffer SetWriteDeadline Setenv Setting SharedKey Shift Shuffle Shutdown Sign Signal Signaled Signbit Simplify Size
    Sizeof Skip SkipChildren SkipNow SkipSpace Skipf Skipped Slice Slice3 SnapshotCoverage Sockaddr Sort SortStrings Split Sqrt
    SrcDirs Stack Start StartCPUProfile StartCond StartRequest StartResponse StartTLS StartTestLog StartTimer Stat State Static
    Stats StderrPipe StdinPipe StdoutPipe Stmt StmtContext Stop StopCPUProfile StopSignal StopTestLog StopTimer Stopped Store
    StoreMarked StoreMin StoreUnmark StreamEnded StreamID Strict String StringExpanded StringVar Sub SubImage SubexpIndex
    SubexpNames Subjects Success Sum Sum32 Sum64 SupportsCertificate Swap SymByAddr Symbols Sync Synopsis Sys SysUsage
    SyscallConn SystemTime TLSConnectionState Tag Tell TempDir Templates Temporary Term Text TextVar Tilde Timeout To16 To4
    ToLower ToRDNSequence ToTitle ToUpper Token TokenText TrailingZeroBits TrapCause Truncate Truthy TryLock TryRLock TryRecv
    TrySend Type TypeArgs TypeOf TypeParams UTC Uint Uint16 Uint32 Uint64 Uint64Var UintVar Underlying Union Unix UnixMicro
    UnixMilli UnixNano Unlink Unlock Unmap Unmarshal UnmarshalBinary UnmarshalCompressed UnmarshalJSON UnmarshalText
    UnmarshalXML UnmarshalXMLAttr UnreadByte UnreadRune UnsafeAddr UnsafePointer Unwrap Update Updatef UseNumber UserAgent
    UserTime Username Val Valid Validate Value Values Var Variadic Verify VerifyHostname Visit VisitAll Wait Warning Weekday
    Width WithContext WithPadding WithZone Write WriteAll WriteAt WriteByte WriteContinuation WriteData WriteDataPadded
    WriteField WriteGoAway WriteHeader WriteHeaders WriteMsgIP WriteMsgUDP WriteMsgUDPAddrPort WriteMsgUnix WritePing
    WritePriority WriteProfileTo WriteProxy WritePushPromise WriteRSTStream WriteRawFrame WriteRequest WriteResponse WriteRune
    WriteSettings WriteSettingsAck WriteString WriteSubset WriteTo WriteToIP WriteToUDP WriteToUDPAddrPort WriteToUnix
    WriteWindowUpdate Writer XORKeyStream Xor YCbCrAt YOffset Year YearDay Zone ZoneBounds
    """.split()
)
