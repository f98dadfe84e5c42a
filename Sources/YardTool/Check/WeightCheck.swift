import Switchyard

/// A search for weights that have no effect.
struct WeightCheck {
    /// The warning about the first server whose weight is not 1, or `nil` if all servers have the same weight or the
    /// weights have an effect.
    let warning: String?

    /// Checks the weights of a service that is defined in a file.
    init(_ service: Service, in file: String) {
        let priorities = service.servers.compactMap(\.priority)
        let hasGroup = Set(priorities).count < priorities.count
        let isIgnored = !hasGroup && ![.weighted, .sticky].contains(service.switching.selection)
        let weights = Set(service.servers.map(\.weight))
        guard isIgnored, weights.count > 1, let index = service.servers.firstIndex(where: { $0.weight != 1 }) else {
            warning = nil
            return
        }
        warning =
            "\(file): servers[\(index)].weight: has no effect, because no servers have equal priority and "
            + "switching.selection ignores weights; the selection weighted shares the traffic by weight"
    }
}
