import SwitchyardHTTP

extension APIConfiguration {
    /// Returns a safe request that a probe or a suspicion probe can send in place of this request.
    ///
    /// If there is a probe path, the result reads it. Otherwise a read request is returned unchanged. For a write
    /// request, the result reads the same path. For a read request that must not be repeated, the result reads the base
    /// URL.
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
