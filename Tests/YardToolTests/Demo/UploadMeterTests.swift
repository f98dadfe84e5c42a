import Foundation
import Testing

@testable import yard

@Suite struct UploadMeterTests {
    private static let form =
        "--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nhello\r\n--xyz--\r\n"

    @Test(arguments: [1, 7, 1_000])
    func `the upload meter measures a file in a multipart form whatever the size of the chunks is`(size: Int)
        async throws
    {
        var meter = UploadMeter(contentType: "multipart/form-data; boundary=xyz", bytesPerSecond: nil)
        var rest = Data(Self.form.utf8)[...]
        while !rest.isEmpty {
            try await meter.take(Data(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }

        #expect(meter.attachment == Attachment(name: "a.txt", bytes: 5))
    }

    @Test(arguments: ["multipart/form-data", "text/plain; boundary=xyz"])
    func `the upload meter finds no attachment in a body that is not a form with a file`(type: String) async throws {
        var meter = UploadMeter(contentType: type, bytesPerSecond: nil)
        try await meter.take(Data("hello".utf8))

        #expect(meter.attachment == nil)
    }
}
