import SwitchyardHTTP

extension APIConfiguration {
    /// Returns a safe request that a probe or a suspicion probe can send in place of this request.
    ///
    /// The result is a GET of the probe path, if there is one. Otherwise, it is a GET of the base URL for a read that
    /// must not be repeated, and a GET of the same path for a write and for any other read whose body is not delivered
    /// as a whole. The remaining reads are returned as they are, but without `continuesAtServer`.
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
