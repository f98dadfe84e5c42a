import Foundation
import Switchyard

/// What a request costs while it waits: resident memory for each of many that wait at once, beyond libcurl's own handle.
///
/// Each layer has a process of its own in every round, so that none uses what another has left. The kernel's buffers of
/// the connections are in none of the figures.
struct InflightBenchmark {
    let isJSON: Bool
    var count = 10_000
    var rounds = 3

    func run() throws {
        ChildProcess.raiseDescriptorLimit()
        var bytes: [WaitingRequests.Layer: [Double]] = [:]
        var threads: [WaitingRequests.Layer: Int] = [:]
        for _ in 0..<rounds {
            for layer in WaitingRequests.Layer.allCases {
                let report = try measure(layer)
                bytes[layer, default: []].append(Double(report.bytes) / Double(count))
                threads[layer] = max(threads[layer] ?? 0, report.threads)
            }
        }
        var sheet = FigureSheet(isJSON: isJSON)
        let title = "\(count) requests that wait at once"
        for layer in WaitingRequests.Layer.allCases {
            sheet.add(title, layer.rawValue, Spread(bytes[layer] ?? []), "bytes each")
        }
        for layer in WaitingRequests.Layer.allCases where layer != .libcurl {
            let own = zip(bytes[layer] ?? [], bytes[.libcurl] ?? []).map { $0 - $1 }
            sheet.add("beyond libcurl's own, 4096 at most", layer.rawValue, Spread(own), "bytes each")
        }
        for layer in WaitingRequests.Layer.allCases where layer != .libcurl {
            sheet.add("threads that all of them take", layer.rawValue, Double(threads[layer] ?? 0), "threads")
        }
        try sheet.finish()
    }

    private func measure(_ layer: WaitingRequests.Layer) throws -> WaitingRequests.Report {
        // A fresh server for each: it need not tell the requests of the process before from those of this one.
        let server = try ChildServer(command: "serve-hold")
        let printed = try ChildProcess.run(arguments: ["hold", layer.rawValue, server.origin, "\(count)"])
        withExtendedLifetime(server) {}
        return try JSONDecoder().decode(WaitingRequests.Report.self, from: printed)
    }
}
