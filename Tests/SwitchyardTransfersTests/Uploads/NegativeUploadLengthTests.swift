import Foundation
import SwitchyardClient
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardTesting
import SwitchyardTransfers
import Testing

/// A negative length must not end the process, as the range `0..<-5` does.
@Suite(.timeLimit(.minutes(5)), .prompt)
struct NegativeUploadLengthTests {
    @Test(arguments: [-1, -5, .min] as [Int64])
    func `a stream with a negative length is rejected before a request is sent`(length: Int64) async throws {
        let lab = try DownloadLab()
        // A server that ignores the announced length.
        lab.server.route(.post, "/files") { _ in LoopbackResponse(status: 201, headers: ["Location": "/files/1"]) }
        for resumption in [UploadResumption.tus(), .contentRange()] {
            let stream = HTTPBody.Stream.of([Data("hello".utf8)], length: length)
            var upload = UploadConfiguration(path: "files", from: .stream(stream))
            upload.resumption = resumption

            let failure = await #expect(throws: RequestFailure.self) { _ = try await lab.client.upload(upload) }

            guard case .invalidRequest? = failure?.reason else {
                Issue.record("\(String(describing: failure))")
                continue
            }
        }
        #expect(lab.server.requests.isEmpty)
    }
}
