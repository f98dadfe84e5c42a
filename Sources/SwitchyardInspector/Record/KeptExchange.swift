import Foundation
import SwitchyardClient
import SwitchyardDiagnostics
import SwitchyardHTTP
import SwitchyardServices

/// A stored exchange, with redacted credentials and with bodies cut to the limit.
struct KeptExchange: Sendable {
    /// The exchange as an archive entry.
    var entry: HARArchive.Entry
    /// Whether the request's body was cut.
    var cutsRequest = false
    /// Whether the response's body was cut.
    var cutsResponse = false

    /// The number of stored bytes of the request's body.
    var requestBytes: Int { entry.request.postData?.text.utf8.count ?? 0 }
    /// The number of stored bytes of the response's body.
    var responseBytes: Int { entry.response.content.text?.utf8.count ?? 0 }

    /// Drops the stored request body, and returns the number of dropped bytes.
    mutating func dropRequest() -> Int {
        let bytes = requestBytes
        cutsRequest = cutsRequest || bytes > 0
        entry.request.postData?.text = ""
        entry.request.postData?.encoding = nil
        return bytes
    }

    /// Drops the stored response body, and returns the number of dropped bytes.
    mutating func dropResponse() -> Int {
        let bytes = responseBytes
        guard bytes > 0 else { return 0 }
        cutsResponse = true
        entry.response.content.text = ""
        entry.response.content.encoding = nil
        return bytes
    }
}

/// A converter that redacts exchanges and cuts their bodies before they are stored.
struct ExchangeKeeper: Sendable {
    /// The placeholder result of an exchange that has not ended yet.
    static let pending = TransportError(.other, message: "no response yet")

    let redaction: Redaction
    /// The maximum number of bytes that are stored of each body.
    let bodyBytes: Int

    /// Returns the stored form of an exchange.
    ///
    /// - Parameters:
    ///   - attempt: The attempt that the exchange belongs to.
    ///   - result: The response or the error.
    ///   - date: The start of the exchange.
    ///   - elapsed: The duration of the exchange.
    ///   - comment: The names of the call, the server and the attempt.
    /// - Returns: The stored exchange.
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

    /// Returns the part of a body that redaction must search: the part that is stored, and the 65,536 bytes after it,
    /// the assumed maximum length of an access token.
    private func seen(of body: Data) -> Data { Self.prefix(of: body, bodyBytes + 65_536) }

    /// Cuts the redacted bodies of an exchange to the limit.
    ///
    /// The exchange still states the original sizes of the bodies.
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

    /// Cuts a text, which may be base64, to the limit, and returns whether the text was longer.
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

    /// Returns the first bytes of the data, up to the limit.
    ///
    /// If the limit is within a character, this character is omitted.
    private static func prefix(of data: Data, _ limit: Int) -> Data {
        guard limit < data.count else { return data }
        var part = data.prefix(limit)
        part.removeLast(part.incompleteCharacter)
        return part
    }
}
