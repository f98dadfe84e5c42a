import SwitchyardHTTP

extension APIConfiguration {
    /// Returns a safe request that a probe or a suspicion probe can send in place of this request.
    ///
    /// The first condition that is met determines the result:
    ///
    /// - If there is a probe path, a GET of the probe path.
    /// - For a read that must not be repeated, a GET of the base URL.
    /// - For a write, and for a read whose body is not delivered as a whole, a GET of the same path.
    /// - For any other read, the read itself, but without ``continuesAtServer``.
    func shadow(_ probePath: String?) -> APIConfiguration {
        if let probePath { return APIConfiguration(path: probePath) }
        let isRead = sentMethod.isSafe
        if isRead, !hasEffect, delivery == .whole {
            guard continuesAtServer else { return self }
            var question = self
            question.continuesAtServer = false
            return question
        }
        var question = baseURLRead
        if !isRead || !hasEffect {
            question.path = path
            question.pathValues = pathValues
            question.apiVersion = apiVersion
        }
        return question
    }

    /// A GET of the base URL that keeps this call's settings for HTTPS upgrades and TLS.
    var baseURLRead: APIConfiguration {
        var question = APIConfiguration()
        question.upgradesToHTTPS = upgradesToHTTPS
        question.tls = tls
        return question
    }
}
