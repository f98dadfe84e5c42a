import SwitchyardClient
import SwitchyardTesting
import SwitchyardTransport

@testable import SwitchyardServices

/// A transport that the conformance suite tests.
enum Subject: String, CaseIterable, Sendable {
    #if os(Linux)
        case curl
    #endif
    case urlSession
    case stub

    /// The transports that use the network.
    static let networked = allCases.filter { $0 != .stub }

    /// Whether this is Foundation's `URLSession` on Linux with its known limitations.
    var isLimited: Bool {
        #if os(Linux)
            self == .urlSession
        #else
            false
        #endif
    }

    /// Creates a transport.
    ///
    /// The stub responds like the server of ``Lab``.
    func makeTransport() throws -> any Transport {
        switch self {
        #if os(Linux)
            case .curl: try CurlTransport()
        #endif
        case .urlSession: try URLSessionTransport()
        case .stub: StubTransport(time: SystemTime.shared, Lab.stubbedResponse)
        }
    }
}
