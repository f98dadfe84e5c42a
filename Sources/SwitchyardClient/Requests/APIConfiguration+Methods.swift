public import SwitchyardHTTP

/// Calls by their method, such as `.get("topics", query: ["page": 2])` and `.post("users", body: .json(user))`.
///
/// All other settings are properties.
extension APIConfiguration {
    /// Returns a call that reads.
    ///
    /// - Parameters:
    ///   - path: The path below the base URL, or an absolute URL.
    ///   - query: The parameters of the URL, none by default.
    /// - Returns: The configuration.
    public static func get(_ path: String, query: Parameters = [:]) -> APIConfiguration {
        APIConfiguration(path: path, query: query)
    }

    /// Returns a call that reads the head of a response without its body.
    ///
    /// - Parameters:
    ///   - path: The path below the base URL, or an absolute URL.
    ///   - query: The parameters of the URL, none by default.
    /// - Returns: The configuration.
    public static func head(_ path: String, query: Parameters = [:]) -> APIConfiguration {
        APIConfiguration(path: path, method: .head, query: query)
    }

    /// Returns a call that sends data to a resource, for example to create another resource.
    ///
    /// - Parameters:
    ///   - path: The path below the base URL, or an absolute URL.
    ///   - query: The parameters of the URL, none by default.
    ///   - body: The body, none by default.
    /// - Returns: The configuration.
    public static func post(
        _ path: String,
        query: Parameters = [:],
        body: RequestBody = .none
    ) -> APIConfiguration {
        APIConfiguration(path: path, method: .post, query: query, body: body)
    }

    /// Returns a call that creates or replaces a resource.
    ///
    /// - Parameters:
    ///   - path: The path below the base URL, or an absolute URL.
    ///   - query: The parameters of the URL, none by default.
    ///   - body: The body, none by default.
    /// - Returns: The configuration.
    public static func put(
        _ path: String,
        query: Parameters = [:],
        body: RequestBody = .none
    ) -> APIConfiguration {
        APIConfiguration(path: path, method: .put, query: query, body: body)
    }

    /// Returns a call that changes a part of a resource.
    ///
    /// - Parameters:
    ///   - path: The path below the base URL, or an absolute URL.
    ///   - query: The parameters of the URL, none by default.
    ///   - body: The body, none by default.
    /// - Returns: The configuration.
    public static func patch(
        _ path: String,
        query: Parameters = [:],
        body: RequestBody = .none
    ) -> APIConfiguration {
        APIConfiguration(path: path, method: .patch, query: query, body: body)
    }

    /// Returns a call that deletes a resource.
    ///
    /// - Parameters:
    ///   - path: The path below the base URL, or an absolute URL.
    ///   - query: The parameters of the URL, none by default.
    ///   - body: The body, none by default.
    /// - Returns: The configuration.
    public static func delete(
        _ path: String,
        query: Parameters = [:],
        body: RequestBody = .none
    ) -> APIConfiguration {
        APIConfiguration(path: path, method: .delete, query: query, body: body)
    }
}
