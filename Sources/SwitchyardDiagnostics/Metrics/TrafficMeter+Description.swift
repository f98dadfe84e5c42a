import SwitchyardClient
import SwitchyardServices

extension TrafficMeter.Figures: CustomStringConvertible {
    /// The figures that are not zero, in one line.
    public var description: String {
        let parts = [
            "\(count) ended",
            Self.text(failures, "failed"),
            Self.text(cancelled, "cancelled"),
            Self.text(retries, "retries"),
            quantile(0.5, "p50"),
            quantile(0.99, "p99"),
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }

    private static func text(_ count: Int, _ what: String) -> String? {
        count == 0 ? nil : "\(count) \(what)"
    }

    private func quantile(_ share: Double, _ name: String) -> String? {
        latency.quantile(share).map { "\(name) \($0.rounded)" }
    }
}

extension TrafficMeter.Snapshot: CustomStringConvertible {
    /// A line for each server, then one for each API, both in the order of their names.
    ///
    /// It holds the paths of the calls; a path that names a user belongs in a template, `users/{id}`.
    public var description: String {
        [servers, apis].flatMap { figures in figures.sorted { $0.key < $1.key } }
            .map { "\($0.key): \($0.value)" }
            .joined(separator: "\n")
    }
}
