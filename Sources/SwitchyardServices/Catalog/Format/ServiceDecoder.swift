/// Decodes a service from the bytes of its file, and reports the exact location of an error.
struct ServiceDecoder {
    let file: String

    func service(from bytes: [UInt8], named name: String) throws(CatalogError) -> Service {
        let root = JSONObject(try parse(bytes), at: "", pattern: "", file: file)
        let fields = try root.fields()
        let found = try fields.string("service")
        guard found == name else {
            throw fields.error(.nameMismatch, "service", "\"\(name)\", the file's name without .json", found)
        }
        let environment = try fields.string("defaultEnvironment")
        let list = try servers(try fields.array("servers"))
        let switching = try fields.object("switching").map { (object) throws(CatalogError) in
            try PolicyDecoder(fields: try object.fields()).policy()
        }
        do throws(CatalogError) {
            return try Service(
                name: name,
                servers: list,
                defaultEnvironment: ServiceEnvironment(rawValue: environment),
                switching: switching ?? .recommended
            )
        } catch {
            var located = error
            located.file = file
            if located.found == nil, case .number(let number)? = root.value.value(at: error.keyPath) {
                located.found = number.text
            }
            throw located
        }
    }

    /// Decodes the elements of the array `servers`.
    func servers(_ values: [JSONValue]) throws(CatalogError) -> [Server] {
        guard !values.isEmpty else {
            throw CatalogError(.noServers, file: file, at: "servers", expected: "at least one server")
        }
        var list: [Server] = []
        for (index, value) in values.enumerated() {
            list.append(try server(JSONObject(value, at: "servers[\(index)]", pattern: "servers[]", file: file)))
        }
        return list
    }

    private func parse(_ bytes: [UInt8]) throws(CatalogError) -> JSONValue {
        let isBlank = bytes.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) }
        guard !isBlank else { throw CatalogError(.emptyFile, file: file, expected: "a JSON object, not an empty file") }
        var parser = JSONParser(ContiguousArray(bytes), maximumDepth: 32, repeatedNames: .refused)
        do throws(JSONParser.Failure) {
            return try parser.document()
        } catch {
            throw located(error, in: bytes)
        }
    }

    private func located(_ failure: JSONParser.Failure, in bytes: [UInt8]) -> CatalogError {
        let line = 1 + bytes.prefix(failure.offset).count { $0 == 0x0A }
        func error(_ kind: CatalogError.Kind, at place: String = "", _ expected: String) -> CatalogError {
            CatalogError(kind, file: file, at: place, expected: "\(expected), at line \(line)")
        }
        switch failure.kind {
        case .malformed(let expected):
            let isAtEnd = failure.offset >= bytes.count
            return error(.malformed, isAtEnd ? "\(expected), not the end of the file" : expected)
        case .tooDeep(let limit): return error(.malformed, "at most \(limit) levels of nesting")
        case .repeatedName(let path):
            return error(.duplicateKey, at: path.hasPrefix(".") ? String(path.dropFirst()) : path, "each key only once")
        }
    }

    private func server(_ object: JSONObject) throws(CatalogError) -> Server {
        let fields = try object.fields()
        return Server(
            name: try fields.string("name"),
            baseURLs: try urls(try fields.requiredObject("baseURLs")),
            cdnURLs: try fields.object("cdnURLs").map { (object) throws(CatalogError) in try urls(object) } ?? [:],
            weight: try fields.number("weight") ?? 1,
            serves: try served(fields),
            rewrites: try fields.object("rewrites").map { (object) throws(CatalogError) in try texts(object) } ?? [:],
            priority: try fields.integer("priority"),
            zone: try fields.optionalString("zone")
        )
    }

    private func served(_ fields: JSONObject.Fields) throws(CatalogError) -> ServedRequests {
        guard fields.isArray("serves") else {
            switch try fields.optionalString("serves") {
            case nil, "everything": return .everything
            case "reads": return .reads
            case let text?: throw fields.unexpected("serves", text)
            }
        }
        var patterns: [String] = []
        for (index, value) in try fields.array("serves").enumerated() {
            guard case .string(let text) = value else {
                throw fields.error(.wrongType, "serves[\(index)]", "a string", value.kindWithArticle)
            }
            patterns.append(text)
        }
        return .matching(patterns)
    }

    /// Returns the members of an object whose values are strings.
    private func texts(_ object: JSONObject) throws(CatalogError) -> [String: String] {
        var texts: [String: String] = [:]
        for (key, value) in try object.members().sorted(by: { $0.key < $1.key }) {
            guard case .string(let text) = value else {
                let (place, found) = ("\(object.path).\(key)", value.kindWithArticle)
                throw CatalogError(.wrongType, file: file, at: place, expected: "a string", found: found)
            }
            texts[key] = text
        }
        return texts
    }

    private func urls(_ object: JSONObject) throws(CatalogError) -> [ServiceEnvironment: ServerURL] {
        var urls: [ServiceEnvironment: ServerURL] = [:]
        for (key, value) in try object.members().sorted(by: { $0.key < $1.key }) {
            let path = "\(object.path).\(key)"
            guard !key.isEmpty else {
                throw CatalogError(
                    .invalidValue,
                    file: file,
                    at: path,
                    expected: "an environment whose name is not empty"
                )
            }
            guard case .string(let text) = value else {
                throw CatalogError(.wrongType, file: file, at: path, expected: "a string", found: value.kindWithArticle)
            }
            do throws(ServerURL.Problem) {
                urls[ServiceEnvironment(rawValue: key)] = try ServerURL(text)
            } catch {
                throw CatalogError(.invalidURL, file: file, at: path, expected: error.rawValue, found: error.found)
            }
        }
        return urls
    }
}
