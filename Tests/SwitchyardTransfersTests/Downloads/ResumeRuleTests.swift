import Foundation
import SwitchyardHTTP
import Testing

@testable import SwitchyardTransfers

/// The rules for a response with which a download continues.
@Suite struct ResumeRuleTests {
    private static let past = "Wed, 21 Oct 2015 07:28:00 GMT"

    @Test func `Last-Modified is not used as a validator if the response has a weak entity tag`() {
        #expect(ResumeValidator(["ETag": #"W/"1""#, "Last-Modified": Self.past]) == nil)
        #expect(ResumeValidator(["Last-Modified": Self.past]) == .lastModified(Self.past))
        #expect(ResumeValidator(["ETag": #""1""#, "Last-Modified": Self.past]) == .entityTag(#""1""#))
    }

    // RFC 9110 section 8.8.2.2: without a Date field, the clocks of the server and the device may differ.
    @Test(arguments: [(true, 0, false), (true, 1, true), (false, 59, false), (false, 60, true)])
    func `Last-Modified is a validator only if it is clearly older than the response`(
        hasDate: Bool,
        age: Double,
        isValidator: Bool
    ) throws {
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let modified = try #require(HTTPDate.text(for: now.addingTimeInterval(-age)))
        var headers: HTTPHeaders = ["Last-Modified": modified]
        if hasDate { headers["Date"] = HTTPDate.text(for: now) }

        #expect((ResumeValidator(headers, now: now) != nil) == isValidator)
    }

    @Test(arguments: ["bytes 5-10/*", "bytes 5-10/11", "bytes 5-10/10"])
    func `a download starts again if the range of a response exceeds the announced length`(range: String) {
        let question = DownloadResponse.Question(offset: 5, total: 10)

        let answer = DownloadResponse(status: 206, headers: ["Content-Range": range], to: question)

        guard case .startOver = answer else {
            Issue.record("\(answer)")
            return
        }
    }

    @Test func `a download accepts a response range that ends at the announced length`() {
        let question = DownloadResponse.Question(offset: 5, total: 10)

        let answer = DownloadResponse(status: 206, headers: ["Content-Range": "bytes 5-9/*"], to: question)

        #expect(answer == .rest(last: 9, total: 10))
    }

    @Test func `received bytes do not count as the whole content if the server now reports another length`() {
        let question = DownloadResponse.Question(offset: 10, total: 12)

        let answer = DownloadResponse(status: 416, headers: ["Content-Range": "bytes */10"], to: question)

        guard case .startOver = answer else {
            Issue.record("\(answer)")
            return
        }
    }
}
