package import Foundation
import SwitchyardHTTP
package import SwitchyardTesting

/// Bytes in the gzip format.
package enum Compressed {
    /// The text "hello " 1,000 times.
    package static let hellos =
        Data(base64Encoded: "H4sIAAAAAAACA+3EMQ0AAAgDMCuYI+FYgv8PEbzt0elka2zbtm3btm3b9uMDwTcMQHAXAAA=") ?? Data()

    package static func response(_ bytes: Data) -> LoopbackResponse {
        LoopbackResponse(headers: ["Content-Encoding": "gzip"], body: .data(bytes))
    }
}
