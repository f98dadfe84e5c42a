/// Generates the service file (JSON) of a service.
enum ServiceWriter {
    /// Returns the contents of the service file, or `nil` if the service has no base URL.
    static func text(_ service: ClientPlan.ServicePlan) -> String? {
        guard let first = service.environments.first else { return nil }
        var lines = [
            "{",
            "  \"service\": \(quoted(service.name)),",
            "  \"defaultEnvironment\": \(quoted(first.name)),",
            "  \"servers\": [",
        ]
        var servers = [server("primary", service.environments.map { ($0.name, $0.url) })]
        for fallback in service.fallbacks {
            // The fallback URL belongs to the first environment. The other environments have no fallback.
            servers.append(server(fallback.name, [(first.name, fallback.url)]))
        }
        lines += servers.enumerated().flatMap { index, lines in
            index < servers.count - 1 ? lines.dropLast() + ["    },"] : lines
        }
        lines += ["  ]", "}"]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func server(_ name: String, _ urls: [(String, String)]) -> [String] {
        var lines = ["    {", "      \"name\": \(quoted(name)),", "      \"baseURLs\": {"]
        lines += urls.enumerated().map { index, url in
            "        \(quoted(url.0)): \(quoted(url.1))\(index < urls.count - 1 ? "," : "")"
        }
        return lines + ["      }", "    }"]
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}
