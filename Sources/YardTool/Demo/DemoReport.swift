import Foundation

/// What the demo has shown, as `--json` prints it.
struct DemoReport: Codable, Sendable, Equatable {
    /// Pages of the list that were loaded.
    var pagesLoaded = 0
    /// Items on them.
    var itemsLoaded = 0
    /// Calls that were answered without asking a server.
    var cacheHits = 0
    /// Answers past their lifetime that were shown while a server was asked for newer ones.
    var staleAnswers = 0
    /// Calls that ended with a module's own error, as they should.
    var moduleErrors = 0
    /// Bytes of the file as they arrived at the server.
    var uploadedBytes = 0
    /// Bytes of the file that was fetched.
    var downloadedBytes = 0
    /// Those among them that were there already when the fetch was taken up again.
    var resumedBytes = 0
    /// Calls that were made by callers and may ask a server.
    var requests = 0
    /// Calls that failed for their caller, those expected to fail left out.
    var callerFailures = 0
    /// Changes of the preferred server because of a failing one.
    var switches = 0
    /// Returns to a server that is preferred and works again.
    var failBacks = 0
    /// Changes of the environment.
    var environmentSwitches = 0
    /// How long the demo took, in seconds.
    var seconds = 0.0
    /// Requests that reached a server, with those of failover, hedging and probing.
    var serverRequests = 0
    /// How long the slowest call of the steady traffic took, in milliseconds.
    var slowestMilliseconds = 0.0
    /// What did not come true; empty when all did.
    var brokenClaims: [String] = []
    /// Whether everything shown came true.
    var succeeded = false

    /// The report as one JSON object.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
