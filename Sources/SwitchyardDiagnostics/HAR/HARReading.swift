import Foundation
import SwitchyardHTTP

// Archives from other programs may lack required members. This library writes every member.

extension HARArchive {
    /// Reads an archive from any program, or throws if the archive has no list of entries.
    public init(from decoder: any Decoder) throws {
        let members = try HARMembers(decoder)
        log = members.has("log") || !members.has("entries") ? try members.required("log") : try Log(from: decoder)
    }
}

extension HARArchive.Log {
    /// An entry, or the reason why it could not be read.
    private enum Item: Decodable {
        case entry(HARArchive.Entry)
        case problem(String)

        init(from decoder: any Decoder) throws {
            guard let members = try? HARMembers(decoder) else {
                self = .problem("must be an object")
                return
            }
            let entry = HARArchive.Entry(members)
            self = entry.map(Item.entry) ?? .problem("has neither a request nor a response")
        }
    }

    /// Reads the root of an archive.
    ///
    /// Entries that cannot be read are omitted and listed in ``HARArchive/omissions``.
    public init(from decoder: any Decoder) throws {
        let members = try HARMembers(decoder)
        version = members.text("version") ?? "1.2"
        creator = members.value("creator") ?? HARArchive.Creator(name: "unknown", version: "")
        var items: [Item]
        do { items = try members.required("entries") } catch {
            guard let single: HARArchive.Entry = members.value("entries") else { throw error }
            items = [.entry(single)]
        }
        entries = []
        for (index, item) in items.enumerated() {
            switch item {
            case .entry(let entry): entries.append(entry)
            case .problem(let text): omissions.append(HARArchive.Omission(entry: index + 1, problem: text))
            }
        }
    }
}

extension HARArchive.Creator {
    /// Reads the name and the version of a program.
    public init(from decoder: any Decoder) throws {
        let members = try HARMembers(decoder)
        name = members.text("name") ?? "unknown"
        version = members.text("version") ?? ""
    }
}

extension HARArchive.Entry {
    /// Reads an exchange, or throws if the exchange has neither a request nor a response.
    public init(from decoder: any Decoder) throws {
        guard let entry = Self(try HARMembers(decoder)) else {
            let problem = "an entry has neither a request nor a response"
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: problem))
        }
        self = entry
    }

    fileprivate init?(_ members: HARMembers) {
        let (request, response): (HARRequest?, HARResponse?) = (members.value("request"), members.value("response"))
        guard request != nil || response != nil else { return nil }
        startedDateTime = members.text("startedDateTime") ?? ""
        timings = members.value("timings") ?? HARTimings()
        time = max(0, members.number("time") ?? timings.total)
        self.request = request ?? .unknown
        self.response = response ?? .missing
        comment = members.text("comment")
        let messages: [HARMembers.Attempted<HARWebSocketMessage>]? = members.value("_webSocketMessages")
        webSocketMessages = messages?.compactMap(\.value)
    }
}

extension HARWebSocketMessage {
    /// Reads a message.
    ///
    /// A message without a time or an opcode counts as a text at the time 0.
    package init(from decoder: any Decoder) throws {
        let members = try HARMembers(decoder)
        type = members.text("type") ?? ""
        time = members.number("time") ?? 0
        opcode = members.number("opcode").flatMap { Int(exactly: $0) } ?? 1
        data = members.text("data") ?? ""
    }
}

extension HARTimings {
    /// Reads the timings.
    ///
    /// A missing duration becomes -1 (unknown).
    public init(from decoder: any Decoder) throws {
        let members = try HARMembers(decoder)
        blocked = members.number("blocked") ?? -1
        dns = members.number("dns") ?? -1
        connect = members.number("connect") ?? -1
        ssl = members.number("ssl") ?? -1
        send = members.number("send") ?? 0
        wait = members.number("wait") ?? 0
        receive = members.number("receive") ?? 0
    }

    /// The sum of all phases in milliseconds.
    ///
    /// `ssl` is not added because it is part of `connect`.
    fileprivate var total: Double { [blocked, dns, connect, send, wait, receive].reduce(0) { $0 + max(0, $1) } }
}

extension HARField {
    /// Reads a name and a value.
    ///
    /// A missing value, as for a file in a form, becomes an empty string.
    public init(from decoder: any Decoder) throws {
        let members = try HARMembers(decoder)
        guard let name = members.text("name") else {
            let problem = "a field must have a name"
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: problem))
        }
        self.name = name
        value = members.text("value") ?? ""
    }
}

// MARK: - Messages

extension HARRequest {
    /// The placeholder for a request that the archive does not contain.
    fileprivate static let unknown = HARRequest(
        method: "-",
        url: "-",
        httpVersion: "",
        cookies: [],
        headers: [],
        queryString: [],
        bodySize: -1
    )

    /// Reads a request.
    ///
    /// Missing members get the format's value for "unknown", and a missing method or URL becomes `-`.
    public init(from decoder: any Decoder) throws {
        let members = try HARMembers(decoder)
        method = members.text("method").flatMap { $0.isEmpty ? nil : $0 } ?? "-"
        url = members.text("url") ?? "-"
        httpVersion = members.text("httpVersion") ?? ""
        cookies = members.fields("cookies")
        headers = members.fields("headers")
        queryString = members.fields("queryString")
        postData = members.value("postData")
        headersSize = members.whole("headersSize") ?? -1
        let written = postData.flatMap { HARText.content($0.text, $0.encoding, type: $0.mimeType).data?.count }
        bodySize = members.whole("bodySize") ?? written ?? (["GET", "HEAD"].contains(method) ? 0 : -1)
    }
}

extension HARRequest.PostData {
    /// Reads a body, which may have form fields, a text, or both.
    public init(from decoder: any Decoder) throws {
        let members = try HARMembers(decoder)
        mimeType = members.text("mimeType") ?? ""
        params = members.fields("params")
        encoding = members.text("_encoding") ?? members.text("encoding")
        // An older inspector page of this library wrote the encoding in `comment`.
        if encoding == nil, members.text("comment") == "base64" { encoding = "base64" }
        text = members.text("text") ?? ""
        guard text.isEmpty, !params.isEmpty else { return }
        (text, encoding) = (Self.form(params), nil)
    }

    /// Returns the fields as URL-encoded form text.
    package static func form(_ fields: [HARField]) -> String {
        var options = ParameterEncodingOptions.form
        options.sortsKeys = false
        let parameters = Parameters(fields.map { Parameters.Item(key: $0.name, value: .string($0.value)) })
        return (try? parameters.text(options)) ?? ""
    }
}

extension HARResponse {
    /// The placeholder for a response that the archive does not contain.
    fileprivate static let missing = HARResponse(
        status: 0,
        httpVersion: "",
        cookies: [],
        headers: [],
        content: Content(size: 0, mimeType: ""),
        redirectURL: "",
        bodySize: -1,
        error: "no response was recorded"
    )

    /// Reads a response.
    ///
    /// Missing members get the format's value for "unknown", and a missing status becomes 0.
    public init(from decoder: any Decoder) throws {
        let members = try HARMembers(decoder)
        status = members.whole("status").flatMap { (0..<1_000).contains($0) ? $0 : nil } ?? 0
        statusText = members.text("statusText") ?? ""
        httpVersion = members.text("httpVersion") ?? ""
        cookies = members.fields("cookies")
        headers = members.fields("headers")
        content = members.value("content") ?? Content(size: 0, mimeType: "")
        redirectURL = members.text("redirectURL") ?? ""
        headersSize = members.whole("headersSize") ?? -1
        bodySize = members.whole("bodySize") ?? -1
        // Playwright names the error `_failureText`.
        error = members.text("_error") ?? members.text("_failureText")
        errorKind = members.text("_errorKind")
    }
}

extension HARResponse.Content {
    /// Reads a body.
    ///
    /// If the size is missing, the length of the body is used.
    public init(from decoder: any Decoder) throws {
        let members = try HARMembers(decoder)
        mimeType = members.text("mimeType") ?? ""
        let (type, label) = (mimeType, members.text("encoding") ?? members.text("_encoding"))
        text = members.text("text")
        encoding = label
        let written = members.text("text").flatMap { HARText.content($0, label, type: type).data?.count }
        size = members.whole("size") ?? written ?? 0
    }
}
