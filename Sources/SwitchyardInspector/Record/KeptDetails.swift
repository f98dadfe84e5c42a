import Foundation
import SwitchyardDiagnostics
import SwitchyardHTTP

extension CallDetail {
    /// Creates the details of a call.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - exchanges: The exchanges of each attempt, in order.
    init(_ call: InspectedCall, _ exchanges: [[KeptExchange]]) {
        self.init(call: call)
        attempts = zip(call.attempts, exchanges).compactMap { attempt, exchanges in
            guard let first = exchanges.first, let last = exchanges.last else { return nil }
            return Attempt(
                number: attempt.number,
                round: attempt.round,
                curl: first.curl,
                request: Message(requestOf: first),
                response: last.entry.response.status > 0 ? Message(responseOf: last) : nil
            )
        }
    }
}

extension CallDetail.Message {
    fileprivate init(requestOf exchange: KeptExchange) {
        let request = exchange.entry.request
        line = "\(request.method) \(request.url)"
        fields = request.headers.map { [$0.name, $0.value] }
        body = CallDetail.Body(
            type: request.postData?.mimeType,
            bytes: request.bodySize,
            content: request.postData?.text,
            encoding: request.postData?.encoding,
            isCut: exchange.cutsRequest
        )
    }

    fileprivate init(responseOf exchange: KeptExchange) {
        let response = exchange.entry.response
        line = "\(InspectedAttempt.name(ofVersion: response.httpVersion)) \(response.status)"
        if !response.statusText.isEmpty { line += " \(response.statusText)" }
        fields = response.headers.map { [$0.name, $0.value] }
        body = CallDetail.Body(
            type: response.content.mimeType,
            // In an archive from a browser, `bodySize` is the compressed size of the body.
            bytes: response.content.text == nil ? response.bodySize : response.content.size,
            content: response.content.text,
            encoding: response.content.encoding,
            isCut: exchange.cutsResponse
        )
    }
}

extension CallDetail.Body {
    fileprivate init(type: String?, bytes: Int, content: String?, encoding: String?, isCut: Bool) {
        if let type, !type.isEmpty { self.type = type }
        if bytes >= 0 { self.bytes = bytes }
        if isCut { self.isCut = true }
        if let encoding, encoding != "base64" {
            note = "the encoding \(encoding) of the body is not supported"
            return
        }
        guard let content else {
            if bytes != 0 { note = bytes < 0 ? "a stream or a file, not stored" : "not stored" }
            return
        }
        guard !content.isEmpty else { return }
        if encoding == "base64" { base64 = content } else { text = content }
    }
}

extension KeptExchange {
    /// The request as a curl command, or `nil` if the stored body is incomplete.
    fileprivate var curl: String? {
        let data = entry.request.postData
        guard !cutsRequest, entry.request.bodySize >= 0, data == nil || entry.request.body != nil,
            let method = HTTPMethod(entry.request.method),
            let url = RequestURL(entry.request.url)
        else { return nil }
        var request = HTTPRequest(method: method, url: url)
        // Browsers record the pseudo header fields of HTTP/2, such as `:path`, which no HTTP/1 request may have.
        request.headers = HTTPHeaders(
            entry.request.headers.filter { !$0.name.hasPrefix(":") }
                .map { HTTPHeaders.Field(name: $0.name, value: $0.value) }
        )
        // The method `-` means that the archive does not contain the method of the request.
        guard method.name != "-" else { return nil }
        if let body = entry.request.body, !body.isEmpty { request.body = .data(body) }
        // The prompt `$ ` is removed, so that a user can copy the command as it is.
        return String(request.curlDescription(redaction: .none).dropFirst(2))
    }
}
