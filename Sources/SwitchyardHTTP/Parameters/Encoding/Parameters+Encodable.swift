import Foundation

extension ParameterValue {
    /// Creates the value tree of any encodable value.
    ///
    /// Dates, data, decimals and URLs stay what they are, so that ``ParameterEncodingOptions`` decides how they are
    /// written. An optional without a value becomes `null`. Sets and dictionaries, which have no order, are put in one.
    ///
    /// - Parameters:
    ///   - value: The value to take apart.
    ///   - maximumDepth: How deep it may be nested; 64 unless given.
    /// - Throws: ``RequestError/parameter(keyPath:reason:)`` with the path of the value that cannot be encoded.
    public init(encoding value: some Encodable & Sendable, maximumDepth: Int = 64) throws(RequestError) {
        let root = ParameterNode()
        do {
            try ParameterTreeEncoder(node: root, codingPath: [], maximumDepth: maximumDepth).encode(value)
        } catch let error as RequestError {
            throw error
        } catch EncodingError.invalidValue(_, let context) {
            let keyPath = context.codingPath.parameterPath
            throw .parameter(keyPath: keyPath, reason: .conversionFailed(context.debugDescription))
        } catch {
            throw .parameter(keyPath: "", reason: .conversionFailed("\(error)"))
        }
        self = root.value
    }
}

extension Parameters {
    /// Creates parameters from any encodable value with named members: a structure, or a dictionary, whose members are put
    /// in ascending order of their names.
    ///
    /// - Parameters:
    ///   - value: The value to take apart.
    ///   - maximumDepth: How deep it may be nested; 64 unless given.
    /// - Throws: ``RequestError/parameter(keyPath:reason:)`` with the path of the value that cannot be encoded, or with
    ///   ``RequestError/ParameterReason/notKeyed`` when the value is a list or a single value.
    public init(encoding value: some Encodable & Sendable, maximumDepth: Int = 64) throws(RequestError) {
        switch try ParameterValue(encoding: value, maximumDepth: maximumDepth) {
        case .dictionary(let parameters): self = parameters
        case .null: self = Parameters()
        default: throw .parameter(keyPath: "", reason: .notKeyed)
        }
    }
}

extension [any CodingKey] {
    /// The path as a query would name it: `filter[tags][0]`.
    var parameterPath: String {
        guard let first else { return "" }
        return dropFirst().reduce(first.stringValue) { path, key in
            "\(path)[\(key.intValue.map(String.init) ?? key.stringValue)]"
        }
    }
}
