/// Reads a service from the bytes of its file, and says exactly what is wrong when it cannot.
struct ServiceDecoder {
    let file: String

    func service(from bytes: [UInt8], named name: String) throws(CatalogError) -> Service {
        let root = JSONObject(try parse(bytes), at: "", pattern: "", file: file)
        let fields = try root.fields()
        let found = try fields.string("service")
        guard found == name else { throw fields.error(.nameMismatch, "service", "\"\(name)\", the file's name", found) }
        let environment = try fields.string("defaultEnvironment")
        let servers = try fields.array("servers")
        guard !servers.isEmpty else { throw fields.error(.noServers, "servers", "at least one server") }
        var list: [Server] = []
        for (index, value) in servers.enumerated() {
            list.append(try server(JSONObject(value, at: "servers[\(index)]", pattern: "servers[]", file: file)))
        }
        let switching = try fields.object("switching").map { (object) throws(CatalogError) in try policy(object) }
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
            throw located
        }
    }

    private func parse(_ bytes: [UInt8]) throws(CatalogError) -> JSONValue {
        let isBlank = bytes.allSatisfy { $0 == 0x20 || (0x09...0x0D).contains($0) }
        guard !isBlank else { throw CatalogError(.emptyFile, file: file, expected: "a JSON object, not an empty file") }
        do throws(JSONParser.Failure) {
            return try JSONParser.parse(bytes)
        } catch {
            let kind: CatalogError.Kind = error.duplicateKey == nil ? .malformed : .duplicateKey
            throw CatalogError(
                kind,
                file: file,
                at: error.duplicateKey ?? "",
                expected: "\(error.expected), at line \(error.line)"
            )
        }
    }

    private func server(_ object: JSONObject) throws(CatalogError) -> Server {
        let fields = try object.fields()
        return Server(
            name: try fields.string("name"),
            baseURLs: try urls(try fields.requiredObject("baseURLs")),
            cdnURLs: try fields.object("cdnURLs").map { (object) throws(CatalogError) in try urls(object) } ?? [:],
            weight: try fields.number("weight") ?? 1
        )
    }

    private func urls(_ object: JSONObject) throws(CatalogError) -> [ServiceEnvironment: ServerURL] {
        var urls: [ServiceEnvironment: ServerURL] = [:]
        for (key, value) in try object.members() {
            let path = "\(object.path).\(key)"
            guard !key.isEmpty else {
                throw CatalogError(.invalidValue, file: file, at: path, expected: "an environment with a name")
            }
            guard case .string(let text) = value else {
                throw CatalogError(.wrongType, file: file, at: path, expected: "a string", found: value.kind)
            }
            do throws(ServerURL.Problem) {
                urls[ServiceEnvironment(rawValue: key)] = try ServerURL(text)
            } catch {
                throw CatalogError(.invalidURL, file: file, at: path, expected: error.rawValue, found: shown(text))
            }
        }
        return urls
    }

    /// A URL as an error shows it, which is safe to log: without user, password and query.
    private func shown(_ url: String) -> String {
        let plain = url.replacing(/\/\/.*@/.dotMatchesNewlines(), with: "//***@")
        guard let mark = plain.firstIndex(where: { $0 == "?" || $0 == "#" }) else { return plain }
        return "\(plain[...mark])***"
    }

    // MARK: - Switching

    private func policy(_ object: JSONObject) throws(CatalogError) -> SwitchPolicy {
        let fields = try object.fields()
        let name = try fields.optionalString("policy") ?? "recommended"
        var policy = try preset(named: name, fields)
        try detection(&policy, fields)
        if let text = try fields.optionalString("selection") {
            guard let strategy = SelectionStrategy(rawValue: text) else { throw fields.unexpected("selection", text) }
            policy.selection = strategy
        }
        policy.failsBack = try fields.bool("failsBack") ?? policy.failsBack
        policy.failsOver = try fields.bool("failsOver") ?? policy.failsOver
        if let hedges = try fields.bool("hedging") { policy.hedging = hedges ? policy.hedging ?? HedgingRules() : nil }
        if let warms = try fields.bool("warmUp") {
            policy.warmUp = warms ? policy.warmUp ?? SwitchPolicy.recommended.warmUp : nil
        }
        policy.maximumAttempts = try fields.integer("maximumAttempts") ?? policy.maximumAttempts
        if let gap = try seconds("firstProbe", fields) {
            policy.recovery.firstProbe = gap
            policy.recovery.longestProbe = max(gap, policy.recovery.longestProbe)
        }
        policy.minimumInterval = try seconds("minimumInterval", fields) ?? policy.minimumInterval
        return policy
    }

    private func seconds(_ key: String, _ fields: JSONObject.Fields) throws(CatalogError) -> Duration? {
        guard let seconds = try fields.number(key) else { return nil }
        guard seconds >= 0 else { throw fields.unexpected(key, "\(seconds)") }
        return .seconds(min(seconds, 1e9))
    }

    private func preset(named name: String, _ fields: JSONObject.Fields) throws(CatalogError) -> SwitchPolicy {
        let row = try fields.integer("consecutiveFailures")
        if row != nil, name != "consecutiveFailures" {
            throw fields.error(
                .invalidValue,
                "consecutiveFailures",
                "the policy consecutiveFailures for this key",
                name
            )
        }
        switch name {
        case "recommended": return .recommended
        case "single": return .single
        case "published": return .published
        case "errorRatio": return .errorRatio()
        case "consecutiveFailures": return .consecutiveFailures(row ?? 5)
        case "off": return .off
        default: throw fields.unexpected("policy", name)
        }
    }

    private func detection(_ policy: inout SwitchPolicy, _ fields: JSONObject.Fields) throws(CatalogError) {
        for key in ["errorRatio", "minimumRequests"] where policy.detection.ratio == nil && fields.has(key) {
            throw fields.error(.invalidValue, key, "a policy that looks at the error ratio for this key", policy.name)
        }
        policy.detection.ratio?.threshold = try fields.number("errorRatio") ?? 0.1
        try requests(&policy, fields)
        if let seconds = try fields.number("window") {
            guard seconds > 0 else { throw fields.unexpected("window", "\(seconds)") }
            policy.detection.window.duration = .seconds(min(seconds, 1e9))
        }
    }

    /// Reads the two numbers of requests, of which the window is at least the minimum: what is wrong is said of a key
    /// that stands in the file.
    private func requests(_ policy: inout SwitchPolicy, _ fields: JSONObject.Fields) throws(CatalogError) {
        let given = try fields.integer("minimumRequests")
        let minimum = given ?? 40
        policy.detection.ratio?.minimum = minimum
        if let count = try fields.integer("windowRequests") {
            guard given != nil || policy.detection.ratio == nil || count >= minimum else {
                let expected = "at least \(minimum) without minimumRequests"
                throw fields.error(.invalidValue, "windowRequests", expected, "\(count)")
            }
            policy.detection.window.count = count
        } else {
            guard minimum <= WindowRule.maximumCount else { throw fields.unexpected("minimumRequests", "\(minimum)") }
            policy.detection.window.count = max(100, minimum)
        }
    }
}
