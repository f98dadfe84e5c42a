import SwitchyardServices

/// The mapping from the server's business codes and HTTP statuses to a module's own error codes.
///
///     let errors = ModuleErrors(UserError.self, codes: [301: .userNotFound], statuses: [409: .nameTaken])
///
/// Business codes are read from the ``Envelope`` of a response, so mapping them requires an envelope. Statuses are HTTP
/// statuses that a call does not accept. Such a call fails with the module's error for the status, unless the envelope
/// contains a code that is in the table of codes, which is more specific.
///
/// A server code that is not in the table is a failure too. It is stored in ``ModuleFailure/serverCode`` and never
/// counts as success.
///
/// ### Find mistakes
/// A table with two meanings for one number is a programming error, but creating it throws nothing. ``clash`` describes
/// the mistake, and no call of a module with such a table is sent. One line of a test finds the mistake:
/// `#expect(errors.clash == nil)`. A `ModuleRegistry` rejects such a table too.
public struct ModuleErrors: Sendable {
    /// The name of the module.
    public let module: String
    /// The messages for the user.
    package var messages: ErrorMessages
    /// The mistake in the table, such as a number with two meanings, or `nil` for a valid table.
    ///
    /// A table is invalid if a code of the module is below 1001 or is reserved for all modules, or if a server code or
    /// a status is listed twice. The calls of such a module are not sent and fail with
    /// ``APIError/ConfigurationReason/moduleCodes(_:)``.
    public let clash: ModuleErrors.Clash?
    package let codes: [Int]
    private let byServerCode: [BusinessCode: Int]
    private let byStatus: [Int: Int]

    /// Creates the table of a module.
    ///
    /// - Parameters:
    ///   - type: The enum of the module's codes.
    ///   - table: The module's code for each code that the server puts into its envelope.
    ///   - statuses: The module's code for each HTTP status that a call does not accept.
    ///   - messages: The messages for the user. The messages of the module's codes are added.
    public init<Module: ModuleErrorCode>(
        _ type: Module.Type,
        codes table: KeyValuePairs<BusinessCode, Module> = [:],
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

    /// Returns the first mistake in the table: a reserved module code, or a server code or status that is listed twice.
    ///
    /// Returns `nil` if there is none.
    private static func clash<Module: ModuleErrorCode>(
        of type: Module.Type,
        _ serverCodes: [BusinessCode],
        _ statuses: [Int]
    ) -> ModuleErrors.Clash? {
        let name = Module.module
        if let low = Module.allCases.map(\.rawValue).first(where: { !APIError.Code.moduleNumbers.contains($0) }) {
            return .reserved(module: name, code: low)
        }
        if let code = serverCodes.firstRepeated { return .repeatedServerCode(module: name, serverCode: code) }
        return statuses.firstRepeated.map { .repeatedStatus(module: name, status: $0) }
    }

    /// Returns the failure for a server code.
    package func failure(for serverCode: BusinessCode) -> ModuleFailure {
        ModuleFailure(module: module, code: byServerCode[serverCode], serverCode: serverCode)
    }

    /// Returns the failure for an HTTP status, or `nil` if the status is not in the table.
    package func failure(forStatus status: Int) -> ModuleFailure? {
        byStatus[status].map { ModuleFailure(module: module, code: $0) }
    }

    /// Returns the error for a server code.
    package func error(
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

extension ModuleErrors {
    /// A mistake in a table of errors, such as a number with two meanings.
    public enum Clash: Error, Sendable, Hashable {
        /// The number is below 1001. These numbers are reserved for the codes that all modules share.
        case reserved(module: String, code: Int)
        /// Another module uses the number.
        case taken(code: Int, by: String, wantedBy: String)
        /// Another module has the same name.
        case sameName(module: String)
        /// The table contains a code of the server twice.
        case repeatedServerCode(module: String, serverCode: BusinessCode)
        /// The table contains a status twice.
        case repeatedStatus(module: String, status: Int)
    }
}

extension ModuleErrors.Clash: CustomStringConvertible {
    /// The mistake, in words for a developer.
    public var description: String {
        switch self {
        case .reserved(let module, let code): "module \(module): code \(code) is reserved: must be at least 1001"
        case .taken(let code, let owner, let module):
            "module \(module): code \(code) is already used by module \(owner)"
        case .sameName(let module): "module \(module): another module has the same name, but names must be unique"
        case .repeatedServerCode(let module, let code):
            "module \(module): the server's code \(code) must be mapped only once"
        case .repeatedStatus(let module, let status): "module \(module): the status \(status) must be mapped only once"
        }
    }
}

extension Array where Element: Hashable {
    /// The first element that also occurs earlier, or `nil` if all elements differ.
    fileprivate var firstRepeated: Element? {
        var seen: Set<Element> = []
        return first { !seen.insert($0).inserted }
    }
}
