import SwitchyardClient
import SwitchyardTesting
import SwitchyardTransport

@testable import SwitchyardServices

/// A transport that the conformance suite runs against.
enum Subject: String, CaseIterable, Sendable {
    #if os(Linux)
        case curl
    #endif
    case urlSession
    case stub

    /// Those that use the network.
    static let networked = allCases.filter { $0 != .stub }

    /// Whether this is `URLSession` as Foundation has it on Linux, with its known limits.
    var isLimited: Bool {
        #if os(Linux)
            self == .urlSession
        #else
            false
        #endif
    }

    /// Makes a transport; the stub answers as ``Lab`` has its server answer.
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
