public import Foundation

extension ResponseSerializer where Value == [XMLEvent] {
    /// XML as the events of its text, for answers that are read front to back.
    public static var xmlEvents: ResponseSerializer {
        ResponseSerializer(accepting: MediaType.xmlTypes) { response in
            try XMLEvent.events(of: try TextEncoding.utf8(response))
        }
    }
}

extension ResponseSerializer where Value == XMLElement {
    /// XML as a tree.
    public static var xml: ResponseSerializer {
        ResponseSerializer(accepting: MediaType.xmlTypes) { response in
            try XMLElement(parsing: try TextEncoding.utf8(response))
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
        ResponseSerializer<ValueWithData<Value>>(
            accepting: contentTypes,
            emptyValue: emptyValue.map { ValueWithData(value: $0, data: Data()) }
        ) { [self] response in
            ValueWithData(value: try value(of: response, rules: .off), data: response.data)
        }
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
