public import Foundation

/// How parameters are written into a query or a form.
///
/// The defaults are those of Alamofire and AFNetworking where these agree: keys sorted, `list[]=1`, `outer[inner]=1`,
/// booleans as 1 and 0, a space as `%20`, `null` left out; dates are ISO 8601 in UTC.
///
/// ### Customise
///
///     var options = ParameterEncodingOptions()
///     options.arrays = .repeated        // tag=a&tag=b
///     options.nesting = .dots           // filter.name=x
///     options.booleans = .literal       // true, false
public struct ParameterEncodingOptions: Sendable {
    /// How the elements of a list are named.
    public enum ArrayKeys: Sendable {
        /// `list[]=1&list[]=2`, the default.
        case brackets
        /// `list=1&list=2`.
        case repeated
        /// `list[0]=1&list[1]=2`.
        case indexed
        /// `list=1,2`; a comma inside an element is percent-encoded, those between elements are not.
        ///
        /// A list that holds lists or named values is refused.
        case commaSeparated
        /// What the closure makes of the name so far and the index.
        case custom(@Sendable (_ key: String, _ index: Int) -> String)
    }

    /// How the names inside named values are written.
    public enum NestedKeys: Sendable {
        /// `outer[inner]=1`, the default.
        case brackets
        /// `outer.inner=1`.
        case dots
        /// What the closure makes of the name so far and the inner name.
        case custom(@Sendable (_ outer: String, _ inner: String) -> String)
    }

    /// How `null` is written.
    public enum Nulls: Sendable, Hashable {
        /// Not at all, the default.
        case dropped
        /// `key=`.
        case empty
        /// `key`, without an equals sign.
        case bare
        /// `key=text`, for instance `null`.
        case literal(String)
    }

    /// How a list or a set of named values without elements is written.
    public enum EmptyCollections: Sendable, Hashable {
        /// Not at all, the default.
        case dropped
        /// The name alone (`list[]` for a list with brackets).
        case bare
    }

    /// How booleans are written.
    public enum Booleans: Sendable, Hashable {
        /// `1` and `0`, the default.
        case numeric
        /// `true` and `false`.
        case literal
    }

    /// How bytes are written.
    public enum Bytes: Sendable {
        /// Base 64 (RFC 4648 section 4), the default.
        case base64
        /// Base 64 for URLs, without padding (RFC 4648 section 5).
        case base64URL
        /// A list of numbers, as `Data` encodes itself.
        case deferred
        /// What the closure makes of them; its error becomes a ``RequestError/parameter(keyPath:reason:)``.
        case custom(@Sendable (Data) throws -> String)
    }

    /// How numbers that are not finite are written.
    public enum NonFiniteNumbers: Sendable, Hashable {
        /// Not at all: they are an error that names the key, the default.
        case refused
        /// As the texts given.
        case literals(positive: String, negative: String, notANumber: String)
    }

    /// How a space is written.
    public enum Spaces: Sendable, Hashable {
        /// `%20`, the default, right everywhere (RFC 3986).
        case percentEncoded
        /// `+`, as HTML forms do.
        case plus
    }

    /// How the elements of a list are named; ``ArrayKeys/brackets`` unless set.
    public var arrays = ArrayKeys.brackets
    /// How the names inside named values are written; ``NestedKeys/brackets`` unless set.
    public var nesting = NestedKeys.brackets
    /// How `null` is written; left out unless set.
    public var nulls = Nulls.dropped
    /// How empty collections are written; left out unless set.
    public var emptyCollections = EmptyCollections.dropped
    /// How booleans are written; 1 and 0 unless set.
    public var booleans = Booleans.numeric
    /// How dates are written; ISO 8601 with whole seconds in UTC unless set.
    public var dates = ParameterDateFormat.iso8601
    /// How bytes are written; base 64 unless set.
    public var data = Bytes.base64
    /// How infinities and NaN are written; refused unless set.
    public var nonFiniteNumbers = NonFiniteNumbers.refused
    /// How names are changed; not at all unless set.
    public var keyCase = ParameterKeyCase.unchanged
    /// How a space is written; `%20` unless set.
    public var spaces = Spaces.percentEncoded
    /// Whether names are sorted on every level (by their UTF-8 bytes, repeated names keep their order); on unless set.
    ///
    /// Sorted, equal parameters give equal text, which caches and signatures need.
    public var sortsKeys = true
    /// The characters that values hold as they are; ``URLCharacters/parameter`` unless set.
    ///
    /// In a URL a space and `#` are encoded all the same.
    public var allowedCharacters = URLCharacters.parameter
    /// The characters that names hold as they are; those of ``allowedCharacters`` when `nil`, the default.
    public var allowedKeyCharacters: URLCharacters?
    /// What stands between two parameters; `&` unless set, and in the place of one that no URL can hold.
    public var separator = "&"
    /// The character set of the text before it is percent-encoded; UTF-8 unless set.
    ///
    /// Text that it cannot express is an error that names the key.
    public var characterSet = String.Encoding.utf8
    /// How deep values may be nested; 64 unless set.
    ///
    /// Deeper trees are an error, so that hostile input cannot exhaust the stack.
    public var maximumDepth = 64

    /// Creates the default options.
    public init() {}

    /// The same for the query of a URL, where a space and `#` are percent-encoded whatever the options allow.
    package var inURL: ParameterEncodingOptions {
        let fit = URLCharacters.printable.subtracting(URLCharacters(" #"))
        var options = self
        options.allowedCharacters = allowedCharacters.intersection(fit)
        options.allowedKeyCharacters = allowedKeyCharacters?.intersection(fit)
        if !separator.utf8.allSatisfy(fit.contains) { options.separator = "&" }
        return options
    }

    /// The options of a web form as browsers send it: `+` for a space, `*-._` and letters and digits as they are.
    public static var form: ParameterEncodingOptions {
        var options = ParameterEncodingOptions()
        options.spaces = .plus
        options.allowedCharacters = .form
        return options
    }
}
