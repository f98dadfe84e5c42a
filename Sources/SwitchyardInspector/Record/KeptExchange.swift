import Foundation
import SwitchyardClient
import SwitchyardDiagnostics
import SwitchyardHTTP
import SwitchyardServices

/// One exchange as it is kept: redacted, and no more of its bodies than there is room for.
struct KeptExchange: Sendable {
    /// The exchange as an archive has it.
    var entry: HARArchive.Entry
    /// Whether there was more of the request's body.
    var cutsRequest = false
    /// Whether there was more of the response's body.
    var cutsResponse = false

    /// The bytes that are kept of the request's body.
    var requestBytes: Int { entry.request.postData?.text.utf8.count ?? 0 }
    /// The bytes that are kept of the response's body.
    var responseBytes: Int { entry.response.content.text?.utf8.count ?? 0 }

    /// Drops what is kept of the request's body, and returns how many bytes that was.
    mutating func dropRequest() -> Int {
        let bytes = requestBytes
        cutsRequest = cutsRequest || bytes > 0
        entry.request.postData?.text = ""
        entry.request.postData?.encoding = nil
        return bytes
    }

    /// Drops what is kept of the response's body, and returns how many bytes that was.
    mutating func dropResponse() -> Int {
        let bytes = responseBytes
        guard bytes > 0 else { return 0 }
        cutsResponse = true
        entry.response.content.text = ""
        entry.response.content.encoding = nil
        return bytes
    }
}

/// Makes what is kept of exchanges.
struct ExchangeKeeper: Sendable {
    /// An exchange that has not ended yet.
    static let pending = TransportError(.other, message: "no answer yet")

    let redaction: Redaction
    /// Bytes that are kept of each body.
    let bodyBytes: Int

    /// What is kept of an exchange.
    ///
    /// - Parameters:
    ///   - attempt: Whose exchange it is.
    ///   - result: What came of it.
    ///   - date: When it began.
    ///   - elapsed: How long it took.
    ///   - comment: Names the call, the server and the attempt.
    /// - Returns: The exchange.
    func kept(
        _ attempt: AttemptRecord,
        _ result: Result<HTTPResponse, TransportError>,
        date: Date,
        elapsed: Duration,
        comment: String
    ) -> KeptExchange {
        var (request, result) = (attempt.request, result)
        var sizes: (request: Int?, response: Int?)
        if case .data(let data) = request.body {
            sizes.request = data.count
            request.body = .data(seen(of: data))
        }
        if case .success(var response) = result, case .whole(let data) = response.body {
            sizes.response = data.count
            response.body = .whole(seen(of: data))
            result = .success(response)
        }
        let entry = HARArchive.Entry(
            request,
            result,
            date: date,
            elapsed: elapsed,
            comment: comment,
            redaction: redaction
        )
        return cut(KeptExchange(entry: entry), sizes.request, sizes.response)
    }

    /// The beginning of a body; no more of it is looked at than is kept, and as much again as a token may have.
    private func seen(of body: Data) -> Data { Self.prefix(of: body, bodyBytes + 65_536) }

    /// Cuts what has been redacted, and says how long it was before.
    private func cut(_ exchange: KeptExchange, _ requestSize: Int?, _ responseSize: Int?) -> KeptExchange {
        var exchange = exchange
        if let requestSize, var data = exchange.entry.request.postData {
            exchange.cutsRequest = shorten(&data.text, &data.encoding) || requestSize > bodyBytes + 65_536
            data.params = []
            exchange.entry.request.postData = data
            exchange.entry.request.bodySize = requestSize
        }
        if let responseSize, var text = exchange.entry.response.content.text {
            exchange.cutsResponse =
                shorten(&text, &exchange.entry.response.content.encoding) || responseSize > bodyBytes + 65_536
            exchange.entry.response.content.text = text
            exchange.entry.response.content.size = responseSize
            exchange.entry.response.bodySize = responseSize
        }
        return exchange
    }

    /// Cuts a text, which may be in base64, to what is kept; whether there was more.
    private func shorten(_ text: inout String, _ encoding: inout String?) -> Bool {
        guard text.utf8.count > bodyBytes else { return false }
        guard encoding == "base64" else {
            text = String(decoding: Self.prefix(of: Data(text.utf8), bodyBytes), as: UTF8.self)
            return true
        }
        guard let data = Data(base64Encoded: text), data.count > bodyBytes else { return false }
        text = data.prefix(bodyBytes).base64EncodedString()
        return true
    }

    /// The first bytes, without a character that the limit cuts.
    private static func prefix(of data: Data, _ limit: Int) -> Data {
        guard limit < data.count else { return data }
        var part = data.prefix(limit)
        part.removeLast(part.incompleteCharacter)
        return part
    }
}
