/// The error codes of one of the app's API modules, an enum of numbers from 1001 up.
///
///     enum UserError: Int, ModuleErrorCode {
///         case userNotFound = 1001
///         case nameTaken = 1002
///
///         var texts: [MessageLanguage: String] {
///             switch self {
///             case .userNotFound: [.english: "There is no such user.", .simplifiedChinese: "用户不存在"]
///             case .nameTaken: [.english: "That name is taken.", .simplifiedChinese: "用户名已被占用"]
///             }
///         }
///     }
public protocol ModuleErrorCode: RawRepresentable, CaseIterable, Hashable, Sendable where RawValue == Int {
    /// The name of the module, by default the name of the type.
    static var module: String { get }

    /// The messages for the user by language.
    ///
    /// By default, there are no messages. In this case, the text of ``APIError/Code/failed`` is shown.
    var texts: [MessageLanguage: String] { get }
}

extension ModuleErrorCode {
    /// The name of the type.
    public static var module: String { "\(Self.self)" }

    /// By default, there are no messages.
    public var texts: [MessageLanguage: String] { [:] }

    /// Returns the error for this code.
    public func error(
        serverCode: BusinessCode? = nil,
        serverMessage: String? = nil,
        context: APIError.Context = APIError.Context()
    ) -> APIError {
        var messages = ErrorMessages.standard
        messages.include(Self.self)
        let failure = ModuleFailure(module: Self.module, code: rawValue, serverCode: serverCode)
        return APIError(.module(failure), context: context, serverMessage: serverMessage, messages: messages)
    }
}

/// A code that a server sends in its envelope (the outer JSON object of a response) or error body: a number or a word.
public enum BusinessCode: Sendable, Hashable {
    /// A number, as in `"code": 301`.
    case number(Int)
    /// A word, as in `"code": "USER_GONE"`.
    case word(String)
}

extension BusinessCode: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Creates a code that is a number.
    public init(integerLiteral value: Int) {
        self = .number(value)
    }

    /// Creates a code that is a word.
    public init(stringLiteral value: String) {
        self = .word(value)
    }

    /// The code as the server sent it.
    public var description: String {
        switch self {
        case .number(let number): String(number)
        case .word(let word): word
        }
    }
}

extension BusinessCode: Decodable {
    /// Decodes a code from a number or a string.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int.self) {
            self = .number(number)
        } else {
            self = .word(try container.decode(String.self))
        }
    }
}
