public import SwitchyardAPI
import SwitchyardServices

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
    /// - Throws: ``/SwitchyardAPI/ModuleCodeClash`` when another module has the name or one of the numbers, or the table has a
    ///   ``/SwitchyardAPI/ModuleErrors/clash`` of its own.
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
