#if os(Linux)
    import Foundation
    import SwitchyardHTTP
    import Testing

    @testable import SwitchyardTransport

    /// The head of a request that opens another protocol.
    @Suite struct CurlOpeningTests {
        private func head(_ url: String, _ headers: HTTPHeaders = [:]) throws -> String {
            let request = HTTPRequest(url: try #require(RequestURL(url)), headers: headers)
            return String(decoding: try CurlOpening.head(of: request), as: UTF8.self)
        }

        @Test(arguments: [("u:p%40", "dTpwQA=="), ("u", "dTo="), ("u:a:b", "dTphOmI=")])
        func `the user and the password of the URL become an Authorization field`(
            user: String,
            value: String
        ) throws {
            #expect(
                try head("http://\(user)@a.example/x?y=1")
                    == "GET /x?y=1 HTTP/1.1\r\nHost: a.example\r\nAuthorization: Basic \(value)\r\n\r\n"
            )
        }

        @Test(arguments: ["http://a.example", "http://@a.example/"])
        func `a URL without a user adds no Authorization field`(url: String) throws {
            #expect(try head(url) == "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n")
        }

        @Test func `the Authorization field of the request takes precedence over the user of the URL`() throws {
            let head = try head("http://u:p@a.example/", ["Authorization": "Bearer t"])

            #expect(head == "GET / HTTP/1.1\r\nHost: a.example\r\nAuthorization: Bearer t\r\n\r\n")
        }
    }
#endif
