public import Foundation
public import SwitchyardAPI
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension ResponseSerializer where Value == [XMLEvent] {
    /// A serializer that returns XML as a list of events, for responses that are processed from start to end.
    public static var xmlEvents: ResponseSerializer {
        ResponseSerializer(accepting: MediaType.xmlTypes) { response in
            try XMLEvent.events(of: try TextEncoding.utf8(ofXML: response))
        }
    }
}

extension ResponseSerializer where Value == XMLTree {
    /// A serializer that returns XML as a tree.
    public static var xml: ResponseSerializer {
        ResponseSerializer(accepting: MediaType.xmlTypes) { response in
            try XMLTree(parsing: try TextEncoding.utf8(ofXML: response))
        }
    }
}

extension ResponseSerializer {
    /// Returns a serializer for images of the content types `image/*`.
    ///
    /// A closure of the app creates the image.
    ///
    ///     let photo = ResponseSerializer<UIImage>.image { try UIImage(data: $0).orThrow() }
    ///
    /// - Parameter make: A closure that creates the image from its bytes.
    /// - Returns: The serializer.
    public static func image(_ make: @escaping @Sendable (Data) throws -> Value) -> ResponseSerializer {
        ResponseSerializer(accepting: [MediaType(type: "image", subtype: "*")]) { try make($0.data) }
    }

    /// A serializer that returns the value together with the bytes from which it was decoded.
    public var keepingData: ResponseSerializer<ValueWithData<Value>> {
        var keeping = ResponseSerializer<ValueWithData<Value>>(
            accepting: contentTypes,
            emptyValue: emptyValue.map { ValueWithData(value: $0, data: Data()) }
        ) { [self] response in
            ValueWithData(value: try value(of: response, rules: .off), data: response.data)
        }
        keeping.preferredTypes = preferredTypes
        keeping.part = part
        return keeping
    }
}

/// A value and the body from which it was decoded.
public struct ValueWithData<Value: Sendable>: Sendable {
    /// The decoded value.
    public var value: Value
    /// The body as received.
    public var data: Data

    /// Creates a pair of a value and the body from which it was decoded.
    public init(value: Value, data: Data) {
        self.value = value
        self.data = data
    }
}

extension MediaType {
    /// The content types of XML.
    static let xmlTypes = ["application/xml", "text/xml", "application/*+xml"].compactMap { MediaType($0) }
}

extension TextEncoding {
    /// Returns an XML body as UTF-8.
    ///
    /// The encoding in the XML declaration applies only if neither a byte order mark nor the `Content-Type` field gives
    /// an encoding (RFC 7303 section 3).
    fileprivate static func utf8(ofXML response: RawResponse) throws(APIError) -> Data {
        let start = String(decoding: response.data.prefix(256), as: UTF8.self)
        let declaration = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._\-]*)["']/
        guard response.charset == nil, let name = start.firstMatch(of: declaration)?.1.lowercased(),
            // The declaration was readable as ASCII, so the text is in none of these encodings, even if the declaration
            // names one of them.
            !isUTF8(name), !name.hasPrefix("utf-16"), !name.hasPrefix("utf-32"), !name.contains("ucs-")
        else { return try utf8(response) }
        return Data(try text(of: response.data, named: name).utf8)
    }
}

extension ResponseSerializer where Value: Decodable {
    /// Returns a serializer that decodes a type from a property list in XML or binary form.
    ///
    /// The maximum nesting depth is 128, as for JSON.
    public static func propertyList(_ type: Value.Type = Value.self) -> ResponseSerializer {
        let empty = type.valueOfEmptyBody
        let types = ["application/x-plist", "application/xml", "text/xml"].compactMap { MediaType($0) }
        return ResponseSerializer(accepting: types, emptyValue: empty) { response in
            try PropertyListDepth.check(response.data)
            return try PropertyListDecoder().decode(type, from: response.data)
        }
    }
}
