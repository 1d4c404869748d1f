"""Names that the .NET library owns: types of ``System``, instance methods of its common types. Called by ``link_csharp.py``.

What may not come in: logic. Written from the documentation of System, System.Collections.Generic, System.Linq, System.IO, System.Text,
System.Threading, System.Threading.Tasks and System.Reflection.
"""

from __future__ import annotations

SYSTEM = frozenset(
    """
    Action Activator AggregateException AppContext AppDomain ApplicationException ArgumentException ArgumentNullException
    ArgumentOutOfRangeException ArithmeticException Array ArrayTypeMismatchException Attribute AttributeUsageAttribute
    BadImageFormatException BitConverter Boolean Buffer Byte Char Console ConsoleColor Convert DBNull DateOnly DateTime
    DateTimeKind DateTimeOffset DayOfWeek Decimal Delegate DivideByZeroException Double Enum Environment EventArgs EventHandler
    Exception Flags FlagsAttribute FormatException Func GC Guid HashCode IAsyncDisposable ICloneable IComparable IConvertible
    IDisposable IEquatable IFormatProvider IFormattable IProgress Index IndexOutOfRangeException Int16 Int32 Int64 IntPtr
    InvalidCastException InvalidOperationException Lazy Math MathF Memory NonSerialized NotImplementedException
    NotSupportedException NullReferenceException Nullable Object ObjectDisposedException Obsolete ObsoleteAttribute
    OperatingSystem OperationCanceledException OutOfMemoryException OverflowException ParamArrayAttribute
    PlatformNotSupportedException Predicate Progress Random Range RankException ReadOnlySpan SByte Serializable Single Span
    StackOverflowException String StringComparer StringComparison StringSplitOptions SystemException ThreadStatic TimeOnly
    TimeSpan TimeZone TimeZoneInfo TimeoutException Tuple Type TypeCode TypeInitializationException TypeLoadException UInt16
    UInt32 UInt64 UIntPtr UnauthorizedAccessException Uri UriBuilder UriKind ValueTuple ValueType Version WeakReference
    """.split()
)

OWNED = frozenset(
    """
    Abort Accept Add AddAfter AddBefore AddDays AddFirst AddHours AddLast AddMilliseconds AddMinutes AddMonths AddOrUpdate
    AddRange AddSeconds AddTicks AddYears Aggregate All Any Append AppendFormat AppendJoin AppendLine Apply AsEnumerable
    AsMemory AsParallel AsQueryable AsReadOnly AsSpan AsTask Average BeginInvoke BeginRead BeginWrite BinarySearch Build Cancel
    CancelAfter Cast Clear Clone Close Combine Compare CompareExchange CompareOrdinal CompareTo Complete Concat ConfigureAwait
    Contains ContainsKey ContainsValue ContinueWith Convert ConvertAll Copy CopyTo CopyToAsync Count Create CreateDelegate
    CreateInstance DefaultIfEmpty Delete Dequeue Deserialize Dispose DisposeAsync Distinct DistinctBy DynamicInvoke ElementAt
    ElementAtOrDefault EndInvoke EndRead EndWrite EndsWith Enqueue EnsureCapacity Equals Except ExceptWith Exchange Execute
    ExecuteAsync Exists Fill Finalize Find FindAll FindIndex FindLast FindLastIndex First FirstOrDefault Flush FlushAsync
    ForEach Format Get GetAsync GetAwaiter GetByteCount GetBytes GetCharCount GetChars GetConstructor GetConstructors
    GetCustomAttribute GetCustomAttributes GetData GetElementType GetEnumUnderlyingType GetEnumerator GetEvent GetField
    GetFields GetFormat GetGenericArguments GetGenericTypeDefinition GetHashCode GetInterface GetInterfaces GetInvocationList
    GetLength GetLowerBound GetMember GetMembers GetMethod GetMethods GetName GetNestedType GetObjectData GetOrAdd GetParameters
    GetProperties GetProperty GetRange GetResult GetService GetString GetStringBuilder GetType GetTypeCode GetTypeInfo
    GetUpperBound GetValue GetValueOrDefault GetValues GroupBy GroupJoin HasFlag IndexOf IndexOfAny Initialize Insert
    InsertRange Intersect IntersectWith Invoke InvokeAsync IsAssignableFrom IsDefined IsInstanceOfType IsMatch IsSubclassOf Join
    Last LastIndexOf LastOrDefault Load LoadAsync Lock LongCount MakeArrayType MakeGenericMethod MakeGenericType Match Matches
    Max MaxBy MemberwiseClone Min MinBy MoveNext Next NextBytes NextDouble Normalize OfType OnCompleted OnError OnNext Open
    OpenRead OpenWrite OrderBy OrderByDescending PadLeft PadRight Parse Peek Pop Post Prepend Print Process Push Range Read
    ReadAsync ReadBlock ReadBoolean ReadByte ReadBytes ReadChar ReadDouble ReadInt16 ReadInt32 ReadInt64 ReadLine ReadLineAsync
    ReadString ReadToEnd ReadToEndAsync ReferenceEquals Register Release Remove RemoveAll RemoveAt RemoveFirst RemoveLast
    RemoveRange Repeat Replace Reset Resize Resolve Reverse Run RunAsync Save SaveAsync Seek Select SelectMany Send SendAsync
    SequenceEqual Serialize Set SetEquals SetException SetLength SetResult SetValue Sign Signal Single SingleOrDefault Skip
    SkipLast SkipWhile Slice Sort Split Start StartAsync StartNew StartsWith Stop StopAsync Subscribe Substring Subtract Sum
    SymmetricExceptWith Take TakeLast TakeWhile ThenBy ThenByDescending ToArray ToBase64String ToBoolean ToByte ToByteArray
    ToChar ToCharArray ToDateTime ToDecimal ToDictionary ToDouble ToHashSet ToInt16 ToInt32 ToInt64 ToList ToLocalTime
    ToLongDateString ToLookup ToLower ToLowerInvariant ToSingle ToString ToUniversalTime ToUpper ToUpperInvariant Trim TrimEnd
    TrimExcess TrimStart TrueForAll TryAdd TryDequeue TryGetNonEnumeratedCount TryGetValue TryParse TryParseExact TryPeek TryPop
    TryRemove TryTake TryUpdate Union UnionWith Unregister Update Validate Wait WaitAll WaitAny WaitAsync WaitOne WhenAll
    WhenAny Where Write WriteAsync WriteByte WriteLine WriteLineAsync WriteTo Yield Zip
    """.split()
)
