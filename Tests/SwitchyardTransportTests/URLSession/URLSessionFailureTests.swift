#if os(Linux)
    import Foundation
    import SwitchyardHTTP
    import Testing

    @testable import SwitchyardClient
    @testable import SwitchyardTransport

    /// `URLSession` on Linux passes on libcurl's messages, whose wording depends on the version.
    @Suite struct URLSessionFailureTests {
        // The messages of libcurl 8.23 and 7.88.
        @Test(arguments: [
            ("end of response with 990000 bytes missing", TransportError.Kind.truncated),
            ("transfer closed with 50 bytes remaining to read", .truncated),
            ("chunk hex-length char not a hex digit: 0x7a", .protocolViolation),
            ("Illegal or missing hexadecimal sequence in chunked-encoding", .protocolViolation),
            ("A value or data field grew larger than allowed", .headersTooLarge),
            ("Out of memory", .headersTooLarge),
        ])
        func `URLSession failures are recognized by the error messages of both libcurl versions`(
            _ text: String,
            _ kind: TransportError.Kind
        ) {
            let info = [NSLocalizedDescriptionKey: text]
            let error = NSError(domain: NSURLErrorDomain, code: -1, userInfo: info)

            #expect(URLSessionFailure(error, hasHead: true).error.kind == kind)
        }
    }
#endif
