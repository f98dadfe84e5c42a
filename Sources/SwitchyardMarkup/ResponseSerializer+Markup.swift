public import Foundation
public import SwitchyardAPI
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension ResponseSerializer where Value == [XMLEvent] {
    /// XML as the events of its text, for answers that are read front to back.
    public static var xmlEvents: ResponseSerializer {
        ResponseSerializer(accepting: MediaType.xmlTypes) { response in
            try XMLEvent.events(of: try TextEncoding.utf8(ofXML: response))
        }
    }
}

extension ResponseSerializer where Value == XMLTree {
    /// XML as a tree.
    public static var xml: ResponseSerializer {
        ResponseSerializer(accepting: MediaType.xmlTypes) { response in
            try XMLTree(parsing: try TextEncoding.utf8(ofXML: response))
        }
    }
}

extension ResponseSerializer {
    /// An image, made by the app's own means; the content types are those of images.
    ///
    ///     let photo = ResponseSerializer<UIImage>.image { try UIImage(data: $0).orThrow() }
    ///
    /// - Parameter make: Makes the image.
    /// - Returns: The serialiser.
    public static func image(_ make: @escaping @Sendable (Data) throws -> Value) -> ResponseSerializer {
        ResponseSerializer(accepting: [MediaType(type: "image", subtype: "*")]) { try make($0.data) }
    }

    /// The value together with the bytes that it was made of.
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

/// A value and the body that it was made of.
public struct ValueWithData<Value: Sendable>: Sendable {
    /// The value.
    public var value: Value
    /// The body, as it came.
    public var data: Data

    /// Creates a pair.
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
    /// A body of XML as UTF-8: its own declaration counts where neither a mark nor the header names the encoding
    /// (RFC 7303 section 3).
    fileprivate static func utf8(ofXML response: RawResponse) throws(APIError) -> Data {
        let start = String(decoding: response.data.prefix(256), as: UTF8.self)
        let declaration = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._\-]*)["']/
        guard response.charset == nil, let name = start.firstMatch(of: declaration)?.1.lowercased(),
            // What could be read up to here is none of these, whatever it says.
            !isUTF8(name), !name.hasPrefix("utf-16"), !name.hasPrefix("utf-32"), !name.contains("ucs-")
        else { return try utf8(response) }
        return Data(try text(of: response.data, named: name).utf8)
    }
}

extension ResponseSerializer where Value: Decodable {
    /// A property list in XML or binary form, decoded into a type.
    ///
    /// It may nest as deep as JSON, ``/SwitchyardServices/JSONDepth/standard``.
    public static func propertyList(_ type: Value.Type = Value.self) -> ResponseSerializer {
        let empty = type.valueOfEmptyBody
        let types = ["application/x-plist", "application/xml", "text/xml"].compactMap { MediaType($0) }
        return ResponseSerializer(accepting: types, emptyValue: empty) { response in
            try PropertyListDepth.check(response.data)
            return try PropertyListDecoder().decode(type, from: response.data)
        }
    }
}
