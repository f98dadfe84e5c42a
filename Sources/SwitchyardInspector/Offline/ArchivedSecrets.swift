import Foundation
import SwitchyardDiagnostics
import SwitchyardHTTP

extension HARArchive.Entry {
    /// Returns the exchange with its credentials hidden, because the program that recorded it may not have hidden them.
    ///
    /// Bodies are decoded, redacted and encoded again, so the page never decodes content that has not been redacted. A
    /// body that cannot be decoded is removed, but its encoding label is kept.
    func redacted(_ redaction: Redaction) -> HARArchive.Entry {
        var entry = self
        entry.comment = comment.map(redaction.text)
        entry.request.redact(redaction)
        entry.response.redact(redaction)
        // The page shows messages without their texts.
        entry.webSocketMessages = nil
        return entry
    }
}

extension HARRequest {
    fileprivate mutating func redact(_ redaction: Redaction) {
        method = redaction.text(method)
        httpVersion = redaction.text(httpVersion)
        url = redaction.url(url)
        headers = redaction.fields(headers)
        cookies = redaction.cookies(cookies)
        queryString = redaction.parameters(queryString)
        postData?.redact(redaction)
    }
}

extension HARRequest.PostData {
    fileprivate mutating func redact(_ redaction: Redaction) {
        let isForm = !params.isEmpty && encoding == nil && text == Self.form(params)
        params = redaction.parameters(params)
        defer { mimeType = redaction.text(mimeType) }
        guard !isForm else {
            text = Self.form(params)
            return
        }
        switch HARText.content(text, encoding, type: mimeType) {
        case .unreadable(let label): (text, encoding) = ("", label)
        case let content:
            let data = content.data ?? Data()
            (text, encoding) = HARText.text(redaction.body(data, contentType: data.type(labelled: mimeType)))
        }
    }
}

extension HARResponse {
    fileprivate mutating func redact(_ redaction: Redaction) {
        statusText = redaction.text(statusText)
        httpVersion = redaction.text(httpVersion)
        headers = redaction.fields(headers)
        cookies = redaction.cookies(cookies)
        redirectURL = redaction.url(redirectURL)
        error = error.map(redaction.text)
        errorKind = errorKind.map(redaction.text)
        defer { content.mimeType = redaction.text(content.mimeType) }
        guard let text = content.text else { return }
        switch HARText.content(text, content.encoding, type: content.mimeType) {
        case .unreadable(let label): (content.text, content.encoding) = (nil, label)
        case let body:
            let data = body.data ?? Data()
            let shown = redaction.answer(data, contentType: data.type(labelled: content.mimeType))
            (content.text, content.encoding) = HARText.text(shown)
        }
    }
}

extension Data {
    /// Returns the content type that determines how secrets are found in the data.
    ///
    /// Some programs label JSON with another type, so data that starts like a JSON object or array counts as JSON.
    fileprivate func type(labelled label: String) -> String {
        let first = first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? "application/json" : label
    }
}

extension Redaction {
    fileprivate func fields(_ fields: [HARField]) -> [HARField] {
        fields.map { $0.showing(value($0.value, ofHeader: $0.name)) }
    }

    fileprivate func parameters(_ fields: [HARField]) -> [HARField] {
        fields.map { $0.showing(value($0.value, ofParameter: $0.name)) }
    }

    fileprivate func cookies(_ fields: [HARField]) -> [HARField] {
        hides(header: "Cookie") ? fields.map { $0.showing("***") } : parameters(fields)
    }
}

extension HARField {
    /// Returns a copy of the field with another value.
    fileprivate func showing(_ value: String) -> HARField {
        var field = self
        field.value = value
        return field
    }
}
