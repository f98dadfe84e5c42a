public import Foundation
import SwitchyardClient
public import SwitchyardHTTP
import SwitchyardServices

extension HARArchive.Entry {
    /// Records an exchange.
    ///
    /// - Parameters:
    ///   - request: What was sent.
    ///   - result: What came of it.
    ///   - date: When it began.
    ///   - elapsed: How long it took.
    ///   - comment: A note, such as the server's name.
    ///   - redaction: What is hidden; nothing unless given.
    public init(
        _ request: HTTPRequest,
        _ result: Result<HTTPResponse, TransportError>,
        date: Date,
        elapsed: Duration,
        comment: String? = nil,
        redaction: Redaction = .none
    ) {
        let metrics = try? result.get().metrics
        let version = metrics?.networkProtocol ?? "HTTP/1.1"
        startedDateTime = Self.text(of: date)
        time = elapsed.inMilliseconds
        self.request = HARRequest(request, version: version, redaction.covering(request))
        response = HARResponse(result, version: version, redaction)
        timings = HARTimings(metrics, elapsed: elapsed)
        self.comment = comment
    }

    /// The date as the format wants it, in UTC with milliseconds.
    private static func text(of date: Date) -> String {
        date.formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        )
    }
}

extension HARRequest {
    init(_ request: HTTPRequest, version: String, _ redaction: Redaction) {
        method = request.method.name
        url = redaction.url(request.url.text)
        httpVersion = version
        headers = request.headers.fields.map { field in
            HARField(name: field.name, value: redaction.value(field.value, ofHeader: field.name))
        }
        cookies = Self.cookies(in: request.headers.values(of: "Cookie"), separator: ";", redaction, "Cookie")
        let query = url.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        queryString = Self.pairs(String(query.prefix { $0 != "#" }))
        let type = request.headers["Content-Type"] ?? ""
        switch request.body {
        case .none: bodySize = 0
        case .data(let data):
            bodySize = data.count
            let (text, encoding) = HARText.text(redaction.body(data, contentType: type))
            let isForm = type.lowercased().hasPrefix("application/x-www-form-urlencoded")
            postData = PostData(mimeType: type, params: isForm ? Self.pairs(text) : [], text: text, encoding: encoding)
        case .file, .stream: bodySize = -1
        }
    }

    /// The pairs of a query or form, decoded.
    private static func pairs(_ text: String) -> [HARField] {
        text.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { part in
                let spaced = String(part).replacing("+", with: " ")
                return spaced.removingPercentEncoding ?? spaced
            }
            return HARField(name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
    }

    static func cookies(
        in values: [String],
        separator: Character?,
        _ redaction: Redaction,
        _ header: String
    ) -> [HARField] {
        let hides = redaction.hides(header: header)
        return values.flatMap { value in separator.map { value.split(separator: $0) } ?? [value.prefix { $0 != ";" }] }
            .compactMap { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2 else { return nil }
                let name = parts[0].trimmingCharacters(in: .whitespaces)
                return HARField(name: name, value: hides ? "***" : redaction.value(String(parts[1]), ofParameter: name))
            }
    }
}

extension HARResponse {
    init(_ result: Result<HTTPResponse, TransportError>, version: String, _ redaction: Redaction) {
        httpVersion = version
        switch result {
        case .failure(let failure):
            status = 0
            (cookies, headers, redirectURL, bodySize) = ([], [], "", -1)
            content = Content(size: 0, mimeType: "")
            error = redaction.text(failure.message)
            errorKind = failure.kind.rawValue
        case .success(let response):
            status = response.status
            headers = response.headers.fields.map { field in
                HARField(name: field.name, value: redaction.value(field.value, ofHeader: field.name))
            }
            cookies = HARRequest.cookies(
                in: response.headers.values(of: "Set-Cookie"),
                separator: nil,
                redaction,
                "Set-Cookie"
            )
            redirectURL = redaction.url(response.headers["Location"] ?? "")
            let type = response.headers["Content-Type"] ?? ""
            switch response.body {
            case .stream:
                bodySize = -1
                content = Content(size: 0, mimeType: type)
            case .whole(let data):
                bodySize = data.count
                let (text, encoding) = HARText.text(redaction.answer(data, contentType: type))
                content = Content(size: data.count, mimeType: type, text: text, encoding: encoding)
            }
        }
    }
}

extension HARTimings {
    init(_ metrics: TransferMetrics?, elapsed: Duration) {
        guard let metrics else {
            wait = elapsed.inMilliseconds
            return
        }
        let lookup = metrics.nameLookup ?? .zero
        let connected = max(lookup, metrics.connected ?? lookup)
        let ready = max(connected, metrics.secured ?? connected)
        let first = max(ready, metrics.firstByte ?? ready)
        if !metrics.reusedConnection {
            dns = lookup.inMilliseconds
            connect = (ready - lookup).inMilliseconds
            if metrics.secured != nil { ssl = (ready - connected).inMilliseconds }
        }
        wait = (first - ready).inMilliseconds
        receive = max(.zero, metrics.total - first).inMilliseconds
    }
}

extension Duration {
    fileprivate var inMilliseconds: Double { inSeconds * 1_000 }
}
