import Foundation

/// The facts that the demo has verified.
///
/// `--json` prints them.
struct DemoReport: Codable, Sendable, Equatable {
    /// The number of loaded list pages.
    var pagesLoaded = 0
    /// The number of items on the loaded pages.
    var itemsLoaded = 0
    /// The number of calls whose response came from the cache, without a request to a server.
    var cacheHits = 0
    /// The number of stale responses that were shown while a fresh response was requested from a server.
    var staleResponses = 0
    /// The number of calls that ended with a module's own error, as expected.
    var moduleErrors = 0
    /// The number of bytes of the uploaded file that arrived at the server.
    var uploadedBytes = 0
    /// The number of bytes in the downloaded file.
    var downloadedBytes = 0
    /// The number of downloaded bytes that were already on disk when the download was resumed.
    var resumedBytes = 0
    /// The number of calls, including calls whose response came from the cache.
    var requests = 0
    /// The number of calls that failed, except for the failures that a step expects.
    var callerFailures = 0
    /// The number of switches to another server because of a failure.
    var switches = 0
    /// The number of returns to a preferred server that had recovered.
    var failBacks = 0
    /// The number of environment changes.
    var environmentSwitches = 0
    /// The duration of the demo in seconds.
    var seconds = 0.0
    /// The number of requests that reached a server, including failovers, hedges and probes.
    var serverRequests = 0
    /// The duration of the slowest call of the steady traffic in milliseconds.
    var slowestMilliseconds = 0.0
    /// Descriptions of the statements that turned out to be false, or an empty array if all statements are true.
    var brokenClaims: [String] = []
    /// Whether all statements of the demo are true.
    var succeeded = false

    /// Returns the report as a JSON object.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
