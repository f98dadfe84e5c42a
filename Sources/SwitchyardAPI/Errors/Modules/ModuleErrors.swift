import SwitchyardServices

/// How a module turns the server's business codes and statuses into its own codes.
///
///     let errors = ModuleErrors(UserError.self, [301: .userNotFound], statuses: [409: .nameTaken])
///
/// Business codes are those in the ``Envelope`` of an answer, so that their table is of no use without one. Statuses are
/// HTTP's, of an answer that is refused for its status: the call becomes the module's error for it, unless the frame of the
/// body has a code that is in the table of codes, which says more.
///
/// A code of the server that is not in the table is a failure as well: the code is kept in
/// ``ModuleFailure/serverCode``, never taken for a success.
///
/// ### Find mistakes
/// A table with two meanings for one number is a mistake in the app's code, and making it throws nothing: ``clash`` says
/// what is wrong, and no call of a module with such a table is sent. A line of a test finds it:
/// `#expect(errors.clash == nil)`. A ``ModuleRegistry`` refuses it, too.
public struct ModuleErrors: Sendable {
    /// The module's name.
    public let module: String
    /// The words for the user.
    public var messages: ErrorMessages
    /// What has two meanings in the table; `nil` for a table that is as it should be.
    ///
    /// A number of the module is one that all modules share or lies below 1001, or a code of the server or a status stands
    /// twice. The calls of such a module fail unsent, with ``APIError/ConfigurationReason/moduleCodes(_:)``.
    public let clash: ModuleCodeClash?
    let codes: [Int]
    private let byServerCode: [BusinessCode: Int]
    private let byStatus: [Int: Int]

    /// Creates the table of a module.
    ///
    /// - Parameters:
    ///   - type: The module's codes.
    ///   - table: The module's code for each code that the server puts into its envelope.
    ///   - statuses: The module's code for each HTTP status that a call does not accept.
    ///   - messages: The words for the user; the module's own are added.
    public init<Module: ModuleErrorCode>(
        _ type: Module.Type,
        _ table: KeyValuePairs<BusinessCode, Module> = [:],
        statuses: KeyValuePairs<Int, Module> = [:],
        messages: ErrorMessages = .standard
    ) {
        module = Module.module
        codes = Module.allCases.map(\.rawValue)
        byServerCode = Dictionary(table.map { ($0.key, $0.value.rawValue) }) { first, _ in first }
        byStatus = Dictionary(statuses.map { ($0.key, $0.value.rawValue) }) { first, _ in first }
        clash = Self.clash(of: type, table.map { $0.key }, statuses.map { $0.key })
        var messages = messages
        messages.include(type)
        self.messages = messages
    }

    /// What has two meanings among a module's codes, the server's and the statuses.
    private static func clash<Module: ModuleErrorCode>(
        of type: Module.Type,
        _ serverCodes: [BusinessCode],
        _ statuses: [Int]
    ) -> ModuleCodeClash? {
        let name = Module.module
        if let low = Module.allCases.map(\.rawValue).first(where: { !APIError.Code.moduleNumbers.contains($0) }) {
            return .reserved(module: name, code: low)
        }
        if let code = serverCodes.firstRepeated { return .repeatedServerCode(module: name, serverCode: code) }
        return statuses.firstRepeated.map { .repeatedStatus(module: name, status: $0) }
    }

    /// The failure that a code of the server stands for.
    public func failure(for serverCode: BusinessCode) -> ModuleFailure {
        ModuleFailure(module: module, code: byServerCode[serverCode], serverCode: serverCode)
    }

    /// The failure that an HTTP status stands for; `nil` for one that is not in the table.
    public func failure(forStatus status: Int) -> ModuleFailure? {
        byStatus[status].map { ModuleFailure(module: module, code: $0) }
    }

    /// The error that a code of the server stands for.
    public func error(
        for serverCode: BusinessCode,
        serverMessage: String? = nil,
        context: APIError.Context = APIError.Context()
    ) -> APIError {
        APIError(
            .module(failure(for: serverCode)),
            context: context,
            serverMessage: serverMessage,
            messages: messages
        )
    }
}

/// Two meanings for one number.
public enum ModuleCodeClash: Error, Sendable, Hashable {
    /// The number lies below 1001, where the codes are that all modules share.
    case reserved(module: String, code: Int)
    /// Another module has the number.
    case taken(code: Int, by: String, wantedBy: String)
    /// Another module has the name.
    case sameName(module: String)
    /// The table names a code of the server twice.
    case repeatedServerCode(module: String, serverCode: BusinessCode)
    /// The table names a status twice.
    case repeatedStatus(module: String, status: Int)
}

extension ModuleCodeClash: CustomStringConvertible {
    /// What clashes, in words for a developer.
    public var description: String {
        switch self {
        case .reserved(let module, let code): "module \(module): code \(code) is reserved, modules start at 1001"
        case .taken(let code, let owner, let module): "module \(module): code \(code) belongs to module \(owner)"
        case .sameName(let module): "module \(module): there is another module of that name"
        case .repeatedServerCode(let module, let code): "module \(module): the server's code \(code) is mapped twice"
        case .repeatedStatus(let module, let status): "module \(module): the status \(status) is mapped twice"
        }
    }
}

extension Array where Element: Hashable {
    /// The first element that stands in front of it already; `nil` when all are different.
    fileprivate var firstRepeated: Element? {
        var seen: Set<Element> = []
        return first { !seen.insert($0).inserted }
    }
}

/// The modules of an app, so that no two of them use one number.
///
/// The app makes one and registers each module's table when it puts its managers together.
public final class ModuleRegistry: Sendable {
    private struct State {
        var modules: Set<String> = []
        var owners: [Int: String] = [:]
    }

    private let state = Locked(State())

    /// Creates an empty registry.
    public init() {}

    /// The names of the modules registered, in alphabetical order.
    public var modules: [String] { state.withLock { $0.modules.sorted() } }

    /// Registers a module; nothing is registered when it clashes.
    ///
    /// - Throws: ``ModuleCodeClash`` when another module has the name or one of the numbers, or the table has a
    ///   ``ModuleErrors/clash`` of its own.
    public func register(_ errors: ModuleErrors) throws(ModuleCodeClash) {
        if let clash = errors.clash { throw clash }
        try state.withLock { state throws(ModuleCodeClash) in
            guard !state.modules.contains(errors.module) else { throw .sameName(module: errors.module) }
            for code in errors.codes {
                if let owner = state.owners[code] {
                    throw .taken(code: code, by: owner, wantedBy: errors.module)
                }
            }
            state.modules.insert(errors.module)
            for code in errors.codes { state.owners[code] = errors.module }
        }
    }
}
