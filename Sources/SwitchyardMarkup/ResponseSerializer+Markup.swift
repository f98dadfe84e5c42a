public import Foundation
public import SwitchyardAPI
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension ResponseSerializer where Value == [XMLEvent] {
    /// A serializer for XML as a list of events, for responses that are processed from start to end.
    public static var xmlEvents: ResponseSerializer {
        ResponseSerializer(accepting: MediaType.xmlTypes) { response in
            try XMLEvent.events(of: try TextEncoding.utf8(ofXML: response))
        }
    }
}

extension ResponseSerializer where Value == XMLTree {
    /// A serializer for XML as a tree.
    public static var xml: ResponseSerializer {
        ResponseSerializer(accepting: MediaType.xmlTypes) { response in
            try XMLTree(parsing: try TextEncoding.utf8(ofXML: response))
        }
    }
}

extension ResponseSerializer {
    /// Returns a serializer for images, which the app creates and whose content types are `image/*`.
    ///
    ///     let photo = ResponseSerializer<UIImage>.image { try UIImage(data: $0).orThrow() }
    ///
    /// - Parameter make: A closure that creates the image.
    /// - Returns: The serializer.
    public static func image(_ make: @escaping @Sendable (Data) throws -> Value) -> ResponseSerializer {
        ResponseSerializer(accepting: [MediaType(type: "image", subtype: "*")]) { try make($0.data) }
    }

    /// A serializer for the value together with the bytes from which it was decoded.
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
    /// The value.
    public var value: Value
    /// The body as received.
    public var data: Data

    /// Creates a value with its body.
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
    /// The encoding in the XML declaration applies if neither a byte order mark nor the header field gives one (RFC
    /// 7303 section 3).
    fileprivate static func utf8(ofXML response: RawResponse) throws(APIError) -> Data {
        let start = String(decoding: response.data.prefix(256), as: UTF8.self)
        let declaration = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._\-]*)["']/
        guard response.charset == nil, let name = start.firstMatch(of: declaration)?.1.lowercased(),
            // The declaration was readable as ASCII, so the text is not in one of these encodings, even if the
            // declaration names one.
            !isUTF8(name), !name.hasPrefix("utf-16"), !name.hasPrefix("utf-32"), !name.contains("ucs-")
        else { return try utf8(response) }
        return Data(try text(of: response.data, named: name).utf8)
    }
}

extension ResponseSerializer where Value: Decodable {
    /// Returns a serializer for a property list in XML or binary form, which is decoded into a type.
    ///
    /// The maximum nesting depth is that of JSON, 128.
    public static func propertyList(_ type: Value.Type = Value.self) -> ResponseSerializer {
        let empty = type.valueOfEmptyBody
        let types = ["application/x-plist", "application/xml", "text/xml"].compactMap { MediaType($0) }
        return ResponseSerializer(accepting: types, emptyValue: empty) { response in
            try PropertyListDepth.check(response.data)
            return try PropertyListDecoder().decode(type, from: response.data)
        }
    }
}
