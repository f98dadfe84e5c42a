public import Foundation

/// Options for encoding parameters in a query or a form.
///
/// The defaults are those that Alamofire and AFNetworking share: sorted keys, `list[]=1`, `outer[inner]=1`, booleans as
/// 1 and 0, a space as `%20`, and `null` omitted. Dates are ISO 8601 in UTC.
///
/// ### Customize
///
///     var options = ParameterEncodingOptions()
///     options.arrays = .repeated        // tag=a&tag=b
///     options.nesting = .dots           // filter.name=x
///     options.booleans = .literal       // true, false
public struct ParameterEncodingOptions: Sendable {
    /// The names of list elements.
    public enum ArrayKeys: Sendable {
        /// `list[]=1&list[]=2`, the default.
        case brackets
        /// `list=1&list=2`.
        case repeated
        /// `list[0]=1&list[1]=2`.
        case indexed
        /// `list=1,2`.
        ///
        /// A comma inside an element is percent-encoded, but the commas between elements are not. A list that contains
        /// lists or dictionaries is an error.
        case commaSeparated
        /// A custom name, made from the outer name and the index.
        case custom(@Sendable (_ key: String, _ index: Int) -> String)
    }

    /// The names of nested values.
    public enum NestedKeys: Sendable {
        /// `outer[inner]=1`, the default.
        case brackets
        /// `outer.inner=1`.
        case dots
        /// A custom name, made from the outer and the inner name.
        case custom(@Sendable (_ outer: String, _ inner: String) -> String)
    }

    /// The representation of `null`.
    public enum Nulls: Sendable, Hashable {
        /// The parameter is omitted.
        ///
        /// This is the default.
        case dropped
        /// `key=`.
        case empty
        /// `key`, without an equals sign.
        case bare
        /// `key=text`, for instance `null`.
        case literal(String)
    }

    /// The representation of empty lists and dictionaries.
    public enum EmptyCollections: Sendable, Hashable {
        /// The parameter is omitted.
        ///
        /// This is the default.
        case dropped
        /// The name alone (`list[]` for a list with brackets).
        case bare
    }

    /// The representation of booleans.
    public enum Booleans: Sendable, Hashable {
        /// `1` and `0`, the default.
        case numeric
        /// `true` and `false`.
        case literal
    }

    /// The representation of bytes.
    public enum Bytes: Sendable {
        /// Base64 (RFC 4648 section 4), the default.
        case base64
        /// URL-safe Base64 without padding (RFC 4648 section 5).
        case base64URL
        /// A list of numbers, as `Data` encodes itself.
        case deferred
        /// A custom text.
        ///
        /// An error that the closure throws becomes a ``RequestError/parameter(keyPath:reason:)``.
        case custom(@Sendable (Data) throws -> String)
    }

    /// The representation of infinities and NaN.
    public enum NonFiniteNumbers: Sendable, Hashable {
        /// The number causes an error that contains the parameter's key.
        ///
        /// This is the default.
        case refused
        /// The number is written as one of the given strings.
        case literals(positive: String, negative: String, notANumber: String)
    }

    /// The representation of a space.
    public enum Spaces: Sendable, Hashable {
        /// `%20`, the default, which is valid everywhere (RFC 3986).
        case percentEncoded
        /// `+`, as in HTML forms.
        case plus
    }

    /// The names of list elements; ``ArrayKeys/brackets`` by default.
    public var arrays = ArrayKeys.brackets
    /// The names of nested values; ``NestedKeys/brackets`` by default.
    public var nesting = NestedKeys.brackets
    /// The representation of `null`; omitted by default.
    public var nulls = Nulls.dropped
    /// The representation of empty collections; omitted by default.
    public var emptyCollections = EmptyCollections.dropped
    /// The representation of booleans; 1 and 0 by default.
    public var booleans = Booleans.numeric
    /// The format of dates; by default ISO 8601 with whole seconds in UTC.
    public var dates = ParameterEncodingOptions.DateFormat.iso8601
    /// The representation of bytes; Base64 by default.
    public var data = Bytes.base64
    /// The treatment of infinities and NaN; by default they are an error.
    public var nonFiniteNumbers = NonFiniteNumbers.refused
    /// The change to the case of names; by default none.
    public var keyCase = ParameterEncodingOptions.KeyCase.unchanged
    /// The representation of a space; `%20` by default.
    public var spaces = Spaces.percentEncoded
    /// Whether names are sorted on every level by their UTF-8 bytes; `true` by default.
    ///
    /// Repeated names keep their order. Caches and signatures need sorted names, because then equal parameters give
    /// equal text.
    public var sortsKeys = true
    /// The characters that are not percent-encoded in values; ``URLCharacters/parameter`` by default.
    ///
    /// In a URL a space and `#` are always percent-encoded.
    public var allowedCharacters = URLCharacters.parameter
    /// The characters that are not percent-encoded in names.
    ///
    /// If `nil`, which is the default, ``allowedCharacters`` applies.
    public var allowedKeyCharacters: URLCharacters?
    /// The separator between parameters; `&` by default.
    ///
    /// In a URL, `&` replaces a separator that is not allowed there.
    public var separator = "&"
    /// The character set in which text is percent-encoded; UTF-8 by default.
    ///
    /// Text that the character set cannot represent is an error that contains the key.
    public var characterSet = String.Encoding.utf8
    /// The maximum nesting depth of values; 64 by default.
    ///
    /// Deeper nesting is an error, so that hostile input cannot exhaust the stack.
    public var maximumDepth = 64

    /// Creates the default options.
    public init() {}

    /// The options for the query of a URL, where a space and `#` are always percent-encoded.
    package var inURL: ParameterEncodingOptions {
        let fit = URLCharacters.printable.subtracting(URLCharacters(" #"))
        var options = self
        options.allowedCharacters = allowedCharacters.intersection(fit)
        options.allowedKeyCharacters = allowedKeyCharacters?.intersection(fit)
        if !separator.utf8.allSatisfy(fit.contains) { options.separator = "&" }
        return options
    }

    /// The options of a web form as browsers send it: `+` for a space, and only `*-._`, letters and digits unencoded.
    public static var form: ParameterEncodingOptions {
        var options = ParameterEncodingOptions()
        options.spaces = .plus
        options.allowedCharacters = .form
        return options
    }
}
