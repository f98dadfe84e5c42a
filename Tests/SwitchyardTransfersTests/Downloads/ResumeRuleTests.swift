import Foundation
import SwitchyardHTTP
import Testing

@testable import SwitchyardTransfers

/// What a response must say for a download to continue with it.
@Suite struct ResumeRuleTests {
    private static let past = "Wed, 21 Oct 2015 07:28:00 GMT"

    @Test func `a weak entity tag hides the date of the last change`() {
        #expect(ResumeValidator(["ETag": #"W/"1""#, "Last-Modified": Self.past]) == nil)
        #expect(ResumeValidator(["Last-Modified": Self.past]) == .lastModified(Self.past))
        #expect(ResumeValidator(["ETag": #""1""#, "Last-Modified": Self.past]) == .entityTag(#""1""#))
    }

    @Test(arguments: ["bytes 5-10/*", "bytes 5-10/11", "bytes 5-10/10"])
    func `a part that goes beyond the announced length is not taken`(range: String) {
        let question = DownloadResponse.Question(offset: 5, total: 10)

        let answer = DownloadResponse(status: 206, headers: ["Content-Range": range], to: question)

        guard case .startOver = answer else {
            Issue.record("\(answer)")
            return
        }
    }

    @Test func `a part that ends with the announced length is taken`() {
        let question = DownloadResponse.Question(offset: 5, total: 10)

        let answer = DownloadResponse(status: 206, headers: ["Content-Range": "bytes 5-9/*"], to: question)

        #expect(answer == .rest(last: 9, total: 10))
    }
}
