import Foundation
import Switchyard

/// A benchmark of the memory per request while many requests wait at the same time.
///
/// The layers of the library are measured separately: libcurl alone, the bare transport, the client and the manager
/// (`WaitingRequests.Layer`). For the layers above libcurl, the benchmark also reports how much more memory than
/// libcurl alone they use.
///
/// Each measurement runs every layer once. Each layer runs in a new process, so that no layer reuses the memory of
/// another layer. The results do not include the kernel's connection buffers.
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
        let title = "\(count) concurrent waiting requests"
        for layer in WaitingRequests.Layer.allCases {
            sheet.add(title, layer.rawValue, Spread(bytes[layer] ?? []), "bytes each")
        }
        for layer in WaitingRequests.Layer.allCases where layer != .libcurl {
            let own = zip(bytes[layer] ?? [], bytes[.libcurl] ?? []).map { $0 - $1 }
            sheet.add("in addition to libcurl (limit: 4096)", layer.rawValue, Spread(own), "bytes each")
        }
        for layer in WaitingRequests.Layer.allCases where layer != .libcurl {
            sheet.add("threads for all requests", layer.rawValue, Double(threads[layer] ?? 0), "threads")
        }
        try sheet.finish()
    }

    private func measure(_ layer: WaitingRequests.Layer) throws -> WaitingRequests.Report {
        // Each layer of the library uses a new server, so that the server counts only the requests of this layer.
        let server = try ChildServer(command: "serve-hold")
        let printed = try ChildProcess.run(arguments: ["hold", layer.rawValue, server.origin, "\(count)"])
        withExtendedLifetime(server) {}
        return try JSONDecoder().decode(WaitingRequests.Report.self, from: printed)
    }
}
