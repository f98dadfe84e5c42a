public import SwitchyardAPI
import SwitchyardServices

/// A registry of an app's modules.
///
/// It ensures that no two modules use the same error number.
///
/// The app creates one registry and registers the error table of each module when it creates its managers.
public final class ModuleRegistry: Sendable {
    private struct State {
        var modules: Set<String> = []
        var owners: [Int: String] = [:]
    }

    private let state = Locked(State())

    /// Creates an empty registry.
    public init() {}

    /// The names of the registered modules, in alphabetical order.
    public var modules: [String] { state.withLock { $0.modules.sorted() } }

    /// Registers a module's name and error numbers.
    ///
    /// If the function throws, nothing is registered.
    ///
    /// - Throws: ``/SwitchyardAPI/ModuleErrors/Clash`` if another module has the same name or uses one of the numbers,
    ///   or if the table itself has a ``/SwitchyardAPI/ModuleErrors/clash``.
    public func register(_ errors: ModuleErrors) throws(ModuleErrors.Clash) {
        if let clash = errors.clash { throw clash }
        try state.withLock { state throws(ModuleErrors.Clash) in
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
