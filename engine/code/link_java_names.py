"""Names that the Java platform owns: types of ``java.lang``, instance methods of its common packages. Called by ``link_java.py``.

What may not come in: logic. Written by asking the runtime (JDK 17) for the public types of java.base's packages lang, util, io, math,
net, nio, text, time and those below them that programs use.
"""

from __future__ import annotations

LANG = frozenset(
    """
    AbstractMethodError Appendable ArithmeticException ArrayIndexOutOfBoundsException ArrayStoreException AssertionError
    AutoCloseable Boolean BootstrapMethodError Byte CharSequence Character Class ClassCastException ClassCircularityError
    ClassFormatError ClassLoader ClassNotFoundException ClassValue CloneNotSupportedException Cloneable Comparable Compiler
    Deprecated Double Enum EnumConstantNotPresentException Error Exception ExceptionInInitializerError Float FunctionalInterface
    IllegalAccessError IllegalAccessException IllegalArgumentException IllegalCallerException IllegalMonitorStateException
    IllegalStateException IllegalThreadStateException IncompatibleClassChangeError IndexOutOfBoundsException
    InheritableThreadLocal InstantiationError InstantiationException Integer InternalError InterruptedException Iterable
    LayerInstantiationException LinkageError Long Math Module ModuleLayer NegativeArraySizeException NoClassDefFoundError
    NoSuchFieldError NoSuchFieldException NoSuchMethodError NoSuchMethodException NullPointerException Number
    NumberFormatException Object OutOfMemoryError Override Package Process ProcessBuilder ProcessHandle Readable Record
    ReflectiveOperationException Runnable Runtime RuntimeException RuntimePermission SafeVarargs SecurityException
    SecurityManager Short StackOverflowError StackTraceElement StackWalker StrictMath String StringBuffer StringBuilder
    StringIndexOutOfBoundsException SuppressWarnings System Thread ThreadDeath ThreadGroup ThreadLocal Throwable
    TypeNotPresentException UnknownError UnsatisfiedLinkError UnsupportedClassVersionError UnsupportedOperationException
    VerifyError VirtualMachineError Void
    """.split()
)

OWNED = frozenset(
    """
    abort abs accept acceptEither acceptEitherAsync accumulate accumulateAndGet accumulator acquire acquireInterruptibly
    acquireShared acquireSharedInterruptibly acquireUninterruptibly activeCount activeGroupCount add addAll addAllAbsent
    addAndGet addAttribute addAttributes addElement addExports addFirst addIfAbsent addLast addObserver addOpens addReads
    addRequestProperty addShutdownHook addSuppressed addTo addToPendingCount addUnicodeLocaleAttribute addUses address
    adjustInto after aliases alignedSlice alignmentOffset allMatch allowCoreThreadTimeOut allowThreadSuspension
    allowsCoreThreadTimeOut and andNot andThen annotationType anyMatch append appendCodePoint appendReplacement appendTail apply
    applyAsDouble applyAsInt applyAsLong applyLocalizedPattern applyPattern applyToEither applyToEitherAsync arguments array
    arrayLength arrayOffset arrayType arrive arriveAndAwaitAdvance arriveAndDeregister asArray asCharBuffer asDoubleBuffer
    asDoubleStream asFloatBuffer asIntBuffer asIterator asLongBuffer asLongStream asMatchPredicate asPredicate asPrimitiveArray
    asReadLock asReadOnlyBuffer asReadWriteLock asShortBuffer asSubclass asWriteLock atDate atDay atEndOfMonth atMonth
    atMonthDay atOffset atStartOfDay atTime atYear atZone atZoneSameInstant atZoneSimilarLocal attemptMark attemptStamp
    available availablePermits availableProcessors average averageBytesPerChar averageCharsPerByte await awaitAdvance
    awaitAdvanceInterruptibly awaitNanos awaitQuiescence awaitTermination awaitUninterruptibly awaitUntil baseIsLeftToRight
    before begin bind bitCount bitLength block booleanValue bootstrapArgs bootstrapArgsList bootstrapMethod boxed build
    bulkRegister byteValue byteValueExact call canAccess canEncode canExecute canRead canUse canWrite cancel
    cancellationRequested capacity cardinality cast ceiling ceilingEntry ceilingKey charAt charValue characteristics chars
    charset checkAccept checkAccess checkConnect checkCreateClassLoader checkDelete checkError checkExec checkExit checkGuard
    checkInput checkLink checkListen checkMulticast checkPackageAccess checkPackageDefinition checkPermission
    checkPrintJobAccess checkPropertiesAccess checkPropertyAccess checkRead checkSecurityAccess checkSetFactory checkWrite
    children clear clearAssertionStatus clearBit clearExtensions clockSequence clone close closeExceptionally codePointAt
    codePointBefore codePointCount codePoints collect combine combiner command commandLine commentChar compact comparator
    compare compareAndExchange compareAndExchangeAcquire compareAndExchangeRelease compareAndSet compareAndSetForkJoinTaskTag
    compareAndSetPendingCount compareTo compareToIgnoreCase compareToIgnoreOptional complete completeAsync completeExceptionally
    completeOnTimeout componentType compose compute computeIfAbsent computeIfPresent concat configuration connect connectFailed
    constantName constantType consume contains containsAll containsKey containsValue contentEquals context convert copy copyInto
    count countDown countObservers countStackFrames countTokens createContentHandler createDatagramSocketImpl createLineBidi
    createNewFile createSocketImpl createURLStreamHandler current datesUntil decode decrement decrementAndGet
    decrementPendingCountUnlessZero defaultExecutor defaultReadObject defaultWriteObject defaulted defineModules
    defineModulesWithManyLoaders defineModulesWithOneLoader delete deleteCharAt deleteDirectory deleteFile deleteObserver
    deleteObservers deleteOnExit delimiter depth descendants descendingIterator descendingKeySet descendingMap descendingSet
    describeConstable descriptorString desiredAssertionStatus destroy destroyForcibly detectedCharset directory disconnect
    displayName distinct divide divideAndRemainder divideToIntegralValue dividedBy doubleValue doubles drainPermits drainTo
    dropWhile duplicate element elementAt elements empty encode end endsWith ensureCapacity entrySet enumType enumerate
    environment eolIsSignificant equals equalsIgnoreCase equalsIgnoreOptional errorReader estimateMaximumLag
    estimateMinimumDemand estimateSize exceptionally exceptionallyAsync exceptionallyCompose exceptionallyComposeAsync exchange
    exec execute exists exit exitValue feature file fillInStackTrace filter find findAll findAny findFirst findInLine findLoader
    findModule findResource findResources findWithinHorizon finisher first firstComplete firstDayOfYear firstElement firstEntry
    firstKey firstMonthOfQuarter flags flatMap flatMapToDouble flatMapToInt flatMapToLong flip flipBit floatValue floor
    floorEntry floorKey flush following forClass forEach forEachEntry forEachKey forEachOrdered forEachRemaining forEachValue
    forRemoval force forceTermination fork format formatHex formatTo formatToCharacterIterator formatted freeMemory gc gcd get
    get2DigitYearStart getAbsoluteFile getAbsolutePath getAccessor getAcquire getActions getActiveCount getActiveThreadCount
    getActualMaximum getActualMinimum getActualTypeArguments getAddress getAllAttributeKeys getAllowUserInteraction
    getAmPmStrings getAndAccumulate getAndAdd getAndDecrement getAndIncrement getAndSet getAndUpdate
    getAnnotatedActualTypeArguments getAnnotatedBounds getAnnotatedExceptionTypes getAnnotatedGenericComponentType
    getAnnotatedInterfaces getAnnotatedLowerBounds getAnnotatedOwnerType getAnnotatedParameterTypes getAnnotatedReceiverType
    getAnnotatedReturnType getAnnotatedSuperclass getAnnotatedType getAnnotatedUpperBounds getAnnotation getAnnotations
    getAnnotationsByType getArgumentClass getArrivedParties getAsBoolean getAsDouble getAsInt getAsLong getAsyncMode
    getAttribute getAttributes getAuthority getAverage getBaseBundleName getBaseLevel getBeginIndex getBlockSize getBody
    getBoolean getBounds getBroadcast getBuffer getByte getByteCodeIndex getBytes getCalendar getCalendarField getCalendarType
    getCallerClass getCandidateLocales getCanonicalFile getCanonicalHostName getCanonicalName getCanonicalPath getCause
    getCertificates getChannel getChar getChars getCharsetName getChild getChildCount getChronology getCipherSuite getClass
    getClassLoader getClassLoaderName getClassName getClasses getClosedException getCodePoint getCollationElementIterator
    getCollationKey getComment getCommentURL getComparator getCompletedTaskCount getCompleter getComponentType getConnectTimeout
    getConstructor getConstructors getContent getContentEncoding getContentLength getContentLengthLong getContentType
    getContentTypeFor getContextClassLoader getContinueExistingPeriodicTasksAfterShutdownPolicy getConversion getCookieStore
    getCookies getCorePoolSize getCount getCountry getCurrency getCurrencyCode getCurrencySymbol getDSTSavings getData getDate
    getDateFormatSymbols getDay getDayOfMonth getDayOfWeek getDayOfYear getDays getDecimalFormatSymbols getDecimalSeparator
    getDeclaredAnnotation getDeclaredAnnotations getDeclaredAnnotationsByType getDeclaredClasses getDeclaredConstructor
    getDeclaredConstructors getDeclaredField getDeclaredFields getDeclaredMethod getDeclaredMethods getDeclaringClass
    getDeclaringExecutable getDeclaringRecord getDecomposition getDefaultFractionDigits getDefaultPort getDefaultUseCaches
    getDefaultValue getDefinedPackage getDefinedPackages getDelay getDescription getDescriptor getDigit getDiscard
    getDisplayCountry getDisplayLanguage getDisplayName getDisplayNames getDisplayScript getDisplayVariant getDoInput
    getDoOutput getDomain getDouble getEnclosingClass getEnclosingConstructor getEnclosingMethod getEncoding getEndIndex
    getEntryName getEnumConstants getEpochSecond getEra getEras getErrorIndex getErrorOffset getErrorStream getExactSizeIfKnown
    getException getExceptionTypes getExclusiveQueuedThreads getExecuteExistingDelayedTasksAfterShutdownPolicy getExecutor
    getExpiration getExponentSeparator getExtension getExtensionKeys getFD getFactory getFallbackLocale getField
    getFieldAttribute getFields getFile getFileAttributeView getFileName getFilePointer getFileStoreAttributeView getFileStores
    getFileSystem getFirst getFirstDayOfWeek getFirstQueuedThread getFlags getFloat getForkJoinTaskTag getFormatSpecifier
    getFormats getFormatsByArgumentIndex getFragment getFreeSpace getGenericComponentType getGenericDeclaration
    getGenericExceptionTypes getGenericInterfaces getGenericParameterTypes getGenericReturnType getGenericSignature
    getGenericSuperclass getGenericType getGreatestMinimum getGregorianChange getGroupingSeparator getGroupingSize
    getHardwareAddress getHeaderField getHeaderFieldDate getHeaderFieldInt getHeaderFieldKey getHeaderFieldLong getHeaderFields
    getHeaders getHoldCount getHost getHostAddress getHostName getHostString getHour getHours getID getISO3Country
    getISO3Language getId getIfModifiedSince getImplementationTitle getImplementationVendor getImplementationVersion getIndex
    getInetAddress getInetAddresses getInfinity getInput getInputLength getInputStream getInstanceFollowRedirects getInt
    getInterface getInterfaceAddresses getInterfaces getInternationalCurrencySymbol getIterator getJarEntry getJarFile
    getJarFileURL getKeepAlive getKeepAliveTime getKey getKeys getLanguage getLargestPoolSize getLast getLastModified getLayer
    getLeastMaximum getLeastSignificantBits getLength getLevelAt getLimits getLineNumber getListener getLocalAddress
    getLocalCertificateChain getLocalPatternChars getLocalPort getLocalPrincipal getLocalSocketAddress getLocale
    getLocalizedLogger getLocalizedMessage getLocation getLogger getLong getLoopbackMode getLowerBounds getLowestSetBit getMTU
    getMainAttributes getManifest getMap getMappedValue getMax getMaxAge getMaxBufferCapacity getMaxExpansion getMaxPriority
    getMaximum getMaximumFractionDigits getMaximumIntegerDigits getMaximumPoolSize getMessage getMethod getMethodName
    getMethodType getMethods getMin getMinimalDaysInFirstWeek getMinimum getMinimumFractionDigits getMinimumIntegerDigits
    getMinusSign getMinute getMinutes getModifiers getModule getModuleName getModuleVersion getMonetaryDecimalSeparator
    getMonetaryGroupingSeparator getMonth getMonthValue getMonths getMostSignificantBits getMultiplier getNaN getName
    getNameCount getNano getNegativePrefix getNegativeSuffix getNestHost getNestMembers getNetworkInterface
    getNetworkPrefixLength getNow getNumberFormat getNumberOfDependents getNumberOfSubscribers getNumberWaiting getNumericCode
    getNumericCodeAsString getOOBInline getObject getObjectInputFilter getObjectStreamClass getOffset getOpaque getOption
    getOrDefault getOtherFile getOutputStream getOwnerType getPackage getPackageName getPackages getParallelism
    getParameterAnnotations getParameterCount getParameterTypes getParameterizedType getParameters getParent getParentFile
    getParties getPassword getPath getPathMatcher getPattern getPatternSeparator getPeerPrincipal getPendingCount getPerMill
    getPercent getPermission getPermittedSubclasses getPhase getPlain getPool getPoolIndex getPoolSize getPort getPortlist
    getPositivePrefix getPositiveSuffix getPrecision getPriority getProperty getProtectionDomain getProtocol getQuery getQueue
    getQueueLength getQueuedSubmissionCount getQueuedTaskCount getQueuedThreads getRange getRawAuthority getRawFragment
    getRawOffset getRawPath getRawQuery getRawResult getRawSchemeSpecificPart getRawType getRawUserInfo getReadHoldCount
    getReadLockCount getReadTimeout getReason getReceiveBufferSize getRecordComponents getRef getReference getRegisteredParties
    getRejectedExecutionHandler getRemoteSocketAddress getRemoveOnCancelPolicy getRequestMethod getRequestProperties
    getRequestProperty getResource getResourceAsStream getResources getResponseCode getResponseMessage getReturnType
    getReuseAddress getRoot getRootDirectories getRoundingMode getRules getRunCount getRunLevel getRunLimit getRunStart
    getRunningThreadCount getSSLSession getScheme getSchemeSpecificPart getScopeId getScopedInterface getScript getSecond
    getSeconds getSecure getSecurityContext getSendBufferSize getSeparator getSerialVersionUID getServerCertificateChain
    getShape getSharedQueuedThreads getShort getShortMonths getShortWeekdays getSigners getSimpleName getSoLinger getSoTimeout
    getSocketAddress getSource getSourceString getSpecificationTitle getSpecificationVendor getSpecificationVersion
    getStackTrace getStamp getState getStealCount getStrength getString getStringArray getSubInterfaces getSubscribers getSum
    getSuperclass getSuppressed getSymbol getTTL getTargetException getTaskCount getTcpNoDelay getText getThenReset
    getThreadFactory getThreadGroup getTime getTimeInMillis getTimeToLive getTimeZone getTimezoneOffset getTotalSeconds
    getTotalSpace getTrafficClass getType getTypeCode getTypeName getTypeParameters getTypeString getURIs getURL getURLs
    getUnallocatedSpace getUnarrivedParties getUncaughtExceptionHandler getUndeclaredThrowable getUnicodeLocaleAttributes
    getUnicodeLocaleKeys getUnicodeLocaleType getUnits getUnnamedModule getUpperBounds getUsableSpace getUseCaches getUserInfo
    getUserName getUserPrincipalLookupService getValue getVariant getVersion getWaitQueueLength getWaitingConsumerCount
    getWaitingThreads getWeekYear getWeekdays getWeeksInWeekYear getWeight getWidth getWriteHoldCount getYear getYears
    getZeroDigit getZone getZoneStrings group groupCount halt handle handleAsync handleGetObject hasAnchoringBounds hasArray
    hasChanged hasCharacteristics hasContended hasExpired hasExtensions hasMoreElements hasMoreTokens hasNext hasNextBigDecimal
    hasNextBigInteger hasNextBoolean hasNextByte hasNextDouble hasNextFloat hasNextInt hasNextLine hasNextLong hasNextShort
    hasPrevious hasQueuedPredecessors hasQueuedSubmissions hasQueuedThread hasQueuedThreads hasRemaining hasSameRules
    hasSubscribers hasTransparentBounds hasWaiters hasWaitingConsumer hashCode headMap headSet helpComplete higher higherEntry
    higherKey hitEnd ifPresent ifPresentOrElse implies inDaylightTime increment incrementAndGet indent indexOf inetAddresses
    info inheritIO initCause inputReader insert insertElementAt instant intValue intValueExact interim intern interrupt
    intersects ints invoke invokeAll invokeAny ioException isAbsolute isAccessible isAfter isAlive isAnnotation
    isAnnotationPresent isAnonymousClass isAnyLocalAddress isArray isAssignableFrom isAutoDetecting isBefore isBlank isBound
    isBoundary isBridge isBroken isCancelled isCharsetDetected isClosed isCompatibleWith isCompletedAbnormally
    isCompletedExceptionally isCompletedNormally isConnected isDaemon isDecimalSeparatorAlwaysShown isDefault isDeprecated
    isDestroyed isDirect isDirectory isDone isEmpty isEnum isEnumConstant isEqual isError isExported isFair isFile
    isGroupingUsed isHeldByCurrentThread isHidden isHttpOnly isIPv4CompatibleAddress isImplicit isInfinite isInputShutdown
    isInstance isInterface isInterrupted isLeap isLeapYear isLeftToRight isLegalReplacement isLenient isLinkLocalAddress
    isLoaded isLocalClass isLocked isLoggable isLoopback isLoopbackAddress isMCGlobal isMCLinkLocal isMCNodeLocal isMCOrgLocal
    isMCSiteLocal isMalformed isMarked isMemberClass isMixed isMulticastAddress isNaN isNamePresent isNamed isNativeMethod
    isNegative isNestmateOf isOpaque isOpen isOutputShutdown isOverflow isParallel isParseBigDecimal isParseIntegerOnly
    isPeriodic isPointToPoint isPresent isPrimitive isProbablePrime isQueued isQuiescent isReachable isReadLocked isReadOnly
    isRecord isRegistered isRegisteredAsParallelCapable isReleasable isRightToLeft isSealed isSet isShutdown isSiteLocalAddress
    isSubscribed isSupported isSynthetic isTerminated isTerminating isUnderflow isUnmappable isUnresolved isUnshared isUp
    isUpperCase isValid isValidDay isValidMonthDay isValidYear isVarArgs isVirtual isWeekDateSupported isWriteLocked
    isWriteLockedByCurrentThread isZero iterator join joinGroup keySet keys kind last lastElement lastEntry lastIndexOf lastKey
    lastModified layer lazySet leaveGroup length lengthOfMonth lengthOfYear limit lineno lines list listFiles listIterator load
    loadClass loadFromXML loadLibrary locale lock lockInterruptibly log longValue longValueExact longs lookingAt lower
    lowerCaseMode lowerEntry lowerKey major malformedInputAction map mapMulti mapMultiToDouble mapMultiToInt mapMultiToLong
    mapToDouble mapToInt mapToLong mapToObj mappingCount mark markSupported match matcher matches max maxBytesPerChar
    maxCharsPerByte maxLength maxMemory merge millis min minLength minimalCompletionStage minor minus minusDays minusHours
    minusMillis minusMinutes minusMonths minusNanos minusSeconds minusWeeks minusYears mismatch mkdir mkdirs mod modInverse
    modPow modules move movePointLeft movePointRight multipliedBy multiply name navigableKeySet needsReload negate negated
    newArray newBundle newByteChannel newCondition newDecoder newDirectoryStream newEncoder newIncompleteFuture newInstance
    newLine newPermissionCollection newThread newWatchService next nextBigDecimal nextBigInteger nextBoolean nextByte nextBytes
    nextClearBit nextComplete nextDouble nextElement nextExponential nextFloat nextGaussian nextIndex nextInt nextLine nextLong
    nextProbablePrime nextSetBit nextShort nextToken node noneMatch normalize normalized not notify notifyAll notifyObservers
    observesDaylightTime obtrudeException obtrudeValue offer offerFirst offerLast offsetByCodePoints onClose onComplete
    onCompletion onError onExceptionalCompletion onExit onMalformedInput onNext onSubscribe onUnmappableCharacter openConnection
    openStream optional or orElse orElseGet orElseThrow orTimeout order ordinal ordinaryChar ordinaryChars out outputWriter owns
    parallel parallelStream parent parentOf parents parse parseHex parseNumbers parseObject parseServerAuthority patch pattern
    peek peekFirst peekLast pid plus plusDays plusHours plusMillis plusMinutes plusMonths plusNanos plusSeconds plusWeeks
    plusYears poll pollEvents pollFirst pollFirstEntry pollLast pollLastEntry pop position postVisitDirectory pow pre
    preVisitDirectory preceding precision prefix prestartAllCoreThreads prestartCoreThread previous previousClearBit
    previousIndex previousSetBit print printStackTrace printf println propagateCompletion propertyNames provider purge push
    pushBack put putAll putChar putDouble putFields putFirst putFloat putIfAbsent putInt putLast putLong putShort query
    quietlyComplete quietlyCompleteRoot quietlyInvoke quietlyJoin quoteChar radix range read readAllBytes readBoolean readByte
    readChar readDouble readExternal readFields readFloat readFully readInt readLine readLock readLockInterruptibly readLong
    readNBytes readObject readPassword readShort readUTF readUnshared readUnsignedByte readUnsignedShort reader ready receive
    redirectError redirectErrorStream redirectInput redirectOutput reduce reduceEntries reduceEntriesToDouble reduceEntriesToInt
    reduceEntriesToLong reduceKeys reduceKeysToDouble reduceKeysToInt reduceKeysToLong reduceToDouble reduceToInt reduceToLong
    reduceValues reduceValuesToDouble reduceValuesToInt reduceValuesToLong references region regionEnd regionMatches regionStart
    register registerValidation reinitialize rejectedExecution relativize release releaseShared reload remainder remaining
    remainingCapacity remove removeAll removeAllElements removeElement removeElementAt removeFirst removeFirstOccurrence
    removeIf removeLast removeLastOccurrence removeShutdownHook removeUnicodeLocaleAttribute renameTo repeat replace replaceAll
    replaceFirst replaceWith replacement request requestPasswordAuthenticationInstance requireEnd reset resetSyntax resolve
    resolveConstantDesc resolveSibling resources responseCode results resume retainAll reverse reversed rewind rngs roll round
    run runAfterBoth runAfterBothAsync runAfterEither runAfterEitherAsync runFinalization sameFile save scale scaleByPowerOfTen
    schedule scheduleAtFixedRate scheduleWithFixedDelay scheduledExecutionTime search searchEntries searchKeys searchValues
    security seek select send sendUrgentData sequential serialClass set set2DigitYearStart setAccessible setAddress
    setAllowUserInteraction setAmPmStrings setAuthenticator setBeginIndex setBit setBoolean setBroadcast setByte setCalendar
    setCalendarType setChar setCharAt setChoices setChunkedStreamingMode setClassAssertionStatus setComment setCommentURL
    setConnectTimeout setContextClassLoader setContinueExistingPeriodicTasksAfterShutdownPolicy setCookiePolicy setCorePoolSize
    setCurrency setCurrencySymbol setDSTSavings setDaemon setData setDate setDateFormatSymbols setDecimalFormatSymbols
    setDecimalSeparator setDecimalSeparatorAlwaysShown setDecomposition setDefaultAssertionStatus setDefaultUseCaches setDigit
    setDiscard setDoInput setDoOutput setDomain setDouble setElementAt setEmptyValue setEndIndex setEndRule setEras
    setErrorIndex setExecutable setExecuteExistingDelayedTasksAfterShutdownPolicy setExponentSeparator setExtension setFields
    setFirstDayOfWeek setFixedLengthStreamingMode setFloat setForkJoinTaskTag setFormat setFormatByArgumentIndex setFormats
    setFormatsByArgumentIndex setGregorianChange setGroupingSeparator setGroupingSize setGroupingUsed setHours setHttpOnly setID
    setIfModifiedSince setIndex setInfinity setInstanceFollowRedirects setInstant setInt setInterface
    setInternationalCurrencySymbol setKeepAlive setKeepAliveTime setLanguage setLanguageTag setLastModified setLength setLenient
    setLineNumber setLocalPatternChars setLocale setLong setLoopbackMode setMaxAge setMaxPriority setMaximumFractionDigits
    setMaximumIntegerDigits setMaximumPoolSize setMinimalDaysInFirstWeek setMinimumFractionDigits setMinimumIntegerDigits
    setMinusSign setMinutes setMonetaryDecimalSeparator setMonetaryGroupingSeparator setMonth setMonths setMultiplier setNaN
    setName setNegativePrefix setNegativeSuffix setNetworkInterface setNumberFormat setOOBInline setObjectInputFilter setOffset
    setOpaque setOption setPackageAssertionStatus setParseBigDecimal setParseIntegerOnly setPath setPatternSeparator
    setPendingCount setPerMill setPercent setPerformancePreferences setPlain setPort setPortlist setPositivePrefix
    setPositiveSuffix setPriority setProperty setRawOffset setReadOnly setReadTimeout setReadable setReceiveBufferSize setRegion
    setRejectedExecutionHandler setRelease setRemoveOnCancelPolicy setRequestMethod setRequestProperty setReuseAddress
    setRoundingMode setScale setScript setSeconds setSecure setSeed setSendBufferSize setShort setShortMonths setShortWeekdays
    setSize setSoLinger setSoTimeout setSocketAddress setStackTrace setStartRule setStartYear setStrength setTTL setTcpNoDelay
    setText setThreadFactory setTime setTimeInMillis setTimeOfDay setTimeToLive setTimeZone setTrafficClass
    setUncaughtExceptionHandler setUnicodeLocaleKeyword setUseCaches setValue setVariant setVersion setWeekDate
    setWeekDefinition setWeekdays setWritable setYear setZeroDigit setZoneStrings shiftLeft shiftRight shortValue
    shortValueExact shouldAccept shutdown shutdownInput shutdownNow shutdownOutput signal signalAll signum since size skip
    skipBytes skipNBytes slashSlashComments slashStarComments sleep slice sort sorted split splitAsStream spliterator splits
    sqrt sqrtAndRemainder start startInstant startsWith stop store storeToXML stream streamBytes stringPropertyNames strip
    stripExtensions stripIndent stripLeading stripTrailing stripTrailingZeros subInterfaces subList subMap subSequence subSet
    submit subpath subscribe substring subtract subtractFrom suffix sum sumThenReset summaryStatistics supplier
    supportedFileAttributeViews supportedOptions supportsFileAttributeView supportsMulticast supportsNormalTermination suspend
    sync tailMap tailSet take takeFirst takeLast takeWhile test testBit thenAccept thenAcceptAsync thenAcceptBoth
    thenAcceptBothAsync thenApply thenApplyAsync thenCombine thenCombineAsync thenComparing thenComparingDouble thenComparingInt
    thenComparingLong thenCompose thenComposeAsync thenRun thenRunAsync throwException timedJoin timedWait timestamp
    toASCIIString toAbsolutePath toArray toBigInteger toBigIntegerExact toBundleName toByteArray toCharArray toChronoUnit
    toCompletableFuture toDays toDaysPart toEngineeringString toEpochDay toEpochMilli toEpochSecond toExternalForm toFile
    toGMTString toGenericString toHandle toHexDigits toHighHexDigit toHours toHoursPart toInstant toLanguageTag toList
    toLocalDate toLocalDateTime toLocalTime toLocaleString toLocalizedPattern toLongArray toLowHexDigit toLowerCase
    toMatchResult toMicros toMillis toMillisPart toMinutes toMinutesPart toNanoOfDay toNanos toNanosPart toOffsetDateTime
    toOffsetTime toPath toPattern toPlainString toRealPath toResourceName toSecondOfDay toSeconds toSecondsPart
    toStackTraceElement toString toTotalMonths toURI toURL toUpperCase toUri toZoneId toZonedDateTime tokens totalCpuDuration
    totalMemory transfer transferTo transform translateEscapes trim trimToSize truncate truncatedTo tryAcquire tryAcquireNanos
    tryAcquireSharedNanos tryAdvance tryComplete tryConvertToOptimisticRead tryConvertToReadLock tryConvertToWriteLock tryLock
    tryOptimisticRead tryReadLock trySetAccessible trySplit tryTransfer tryUnfork tryUnlockRead tryUnlockWrite tryWriteLock type
    typeName ulp uncaughtException unlock unlockRead unlockWrite unmappableCharacterAction unordered unread unscaledValue until
    update updateAndGet useAnchoringBounds useDaylightTime useDelimiter useLocale usePattern useProtocolVersion useRadix
    useTransparentBounds user usingProxy valid validate validateObject value values variant version visitFile visitFileFailed
    wait waitFor walk watchable weakCompareAndSet weakCompareAndSetAcquire weakCompareAndSetPlain weakCompareAndSetRelease
    weakCompareAndSetVolatile whenComplete whenCompleteAsync whitespaceChars with withDayOfMonth withDayOfYear withDays
    withDelimiter withEarlierOffsetAtOverlap withFixedOffsetZone withHour withLaterOffsetAtOverlap withLowerCase withMinute
    withMonth withMonths withNano withNanos withOffsetSameInstant withOffsetSameLocal withPrefix withSecond withSeconds
    withSuffix withUpperCase withYear withYears withZone withZoneSameInstant withZoneSameLocal wordChars write writeBoolean
    writeByte writeBytes writeChar writeChars writeDouble writeExternal writeFields writeFloat writeInt writeLock
    writeLockInterruptibly writeLong writeObject writeShort writeTo writeUTF writeUnshared writer xor
    """.split()
)
