/// Decodes the `switching` object of a service file.
struct PolicyDecoder {
    let fields: JSONObject.Fields

    /// Returns the policy that the `switching` object describes.
    func policy() throws(CatalogError) -> SwitchPolicy {
        let name = try fields.optionalString("policy") ?? "recommended"
        var policy = try preset(named: name)
        try detection(&policy)
        if let strategy: SelectionStrategy = try choice("selection") { policy.selection = strategy }
        policy.overprovisioning = try fields.number("overprovisioning") ?? policy.overprovisioning
        policy.latencyWindow = try fields.seconds("latencyWindow") ?? policy.latencyWindow
        policy.failsBack = try fields.bool("failsBack") ?? policy.failsBack
        policy.failsOver = try fields.bool("failsOver") ?? policy.failsOver
        if let meaning: SwitchPolicy.TooManyRequests = try choice("tooManyRequests") {
            policy.tooManyRequests = meaning
        }
        policy.detection.perEndpoint = try fields.bool("perEndpoint") ?? policy.detection.perEndpoint
        try hedging(&policy)
        try admission(&policy)
        if let warms = try fields.bool("warmUp") {
            policy.warmUp = warms ? policy.warmUp ?? SwitchPolicy.recommended.warmUp : nil
        }
        policy.maximumAttempts = try fields.integer("maximumAttempts") ?? policy.maximumAttempts
        if let gap = try fields.seconds("firstProbe") {
            policy.recovery.firstProbe = gap
            policy.recovery.longestProbe = max(gap, policy.recovery.longestProbe)
        }
        policy.minimumInterval = try fields.seconds("minimumInterval") ?? policy.minimumInterval
        return policy
    }

    private func choice<Choice: RawRepresentable<String>>(_ key: String) throws(CatalogError) -> Choice? {
        guard let text = try fields.optionalString(key) else { return nil }
        guard let choice = Choice(rawValue: text) else { throw fields.unexpected(key, text) }
        return choice
    }

    private func preset(named name: String) throws(CatalogError) -> SwitchPolicy {
        let row = try fields.integer("consecutiveFailures")
        if row != nil, name != "consecutiveFailures" {
            throw fields.error(
                .invalidValue,
                "consecutiveFailures",
                "the policy consecutiveFailures, which this key needs",
                name
            )
        }
        switch name {
        case "recommended": return .recommended
        case "single": return .smallFleet
        case "published": return .stickyErrorRatio
        case "errorRatio": return .errorRatio()
        case "consecutiveFailures": return .consecutiveFailures(row ?? 5)
        case "off": return .off
        default: throw fields.unexpected("policy", name)
        }
    }

    private func detection(_ policy: inout SwitchPolicy) throws(CatalogError) {
        for key in ["errorRatio", "minimumRequests"] where policy.detection.ratio == nil && fields.has(key) {
            let expected = "a policy that uses the error ratio, which this key needs"
            throw fields.error(.invalidValue, key, expected, policy.name)
        }
        policy.detection.ratio?.threshold = try fields.number("errorRatio") ?? 0.1
        try requests(&policy)
        if let seconds = try fields.number("window") {
            guard seconds > 0 else { throw fields.unexpected("window", "\(seconds)") }
            policy.detection.window.duration = .seconds(min(seconds, 1e9))
        }
    }

    /// Reads `minimumRequests` and `windowRequests`, and checks that the window is not less than the minimum.
    ///
    /// If it is less, the error names whichever of the two keys is present in the file.
    private func requests(_ policy: inout SwitchPolicy) throws(CatalogError) {
        let given = try fields.integer("minimumRequests")
        let minimum = given ?? 40
        policy.detection.ratio?.minimum = minimum
        if let count = try fields.integer("windowRequests") {
            guard given != nil || policy.detection.ratio == nil || count >= minimum else {
                let expected = "a number of at least \(minimum), the default of minimumRequests"
                throw fields.error(.invalidValue, "windowRequests", expected, "\(count)")
            }
            policy.detection.window.count = count
        } else {
            guard minimum <= SwitchPolicy.Window.maximumCount else {
                throw fields.unexpected("minimumRequests", "\(minimum)")
            }
            policy.detection.window.count = max(100, minimum)
        }
    }

    // MARK: - Hedging and admission rules

    private func hedging(_ policy: inout SwitchPolicy) throws(CatalogError) {
        guard let part = try fields.part("hedging") else { return }
        guard part.isOn else { return policy.hedging = nil }
        var rules = policy.hedging ?? HedgingRules()
        if let details = part.details {
            rules.shortest = try details.seconds("shortest") ?? rules.shortest
            rules.earliest = try details.seconds("earliest") ?? rules.earliest
            rules.unknown = try details.seconds("unknown") ?? rules.unknown
            rules.factor = try details.number("factor") ?? rules.factor
            rules.deadlineShare = try details.number("deadlineShare") ?? rules.deadlineShare
            rules.suspicionRounds = try details.integer("suspicionRounds") ?? rules.suspicionRounds
        }
        policy.hedging = rules
    }

    private func admission(_ policy: inout SwitchPolicy) throws(CatalogError) {
        guard let part = try fields.part("admission") else { return }
        guard part.isOn else { return policy.admission = nil }
        var rules = policy.admission ?? AdmissionRules()
        if let details = part.details {
            try cuts(&rules, details)
            rules.forgetting = try details.seconds("forgetting") ?? rules.forgetting
            rules.doubling = try details.seconds("doubling") ?? rules.doubling
            rules.clean = try details.seconds("clean") ?? rules.clean
            rules.longestRetryAfter = try details.seconds("longestRetryAfter") ?? rules.longestRetryAfter
            rules.sparesOverloaded = try details.bool("sparesOverloaded") ?? rules.sparesOverloaded
            rules.mostShed = try details.number("mostShed") ?? rules.mostShed
            if let text = try details.optionalString("sheds") { rules.sheds = try sheds(text, details) }
        }
        policy.admission = rules
    }

    private func cuts(_ rules: inout AdmissionRules, _ details: JSONObject.Fields) throws(CatalogError) {
        rules.floor = try details.number("floor") ?? rules.floor
        rules.step = try details.number("step") ?? rules.step
        rules.overloadCut = try details.number("overloadCut") ?? rules.overloadCut
        rules.timeoutCut = try details.number("timeoutCut") ?? rules.timeoutCut
    }

    private func sheds(
        _ text: String,
        _ details: JSONObject.Fields
    ) throws(CatalogError) -> RequestPriority? {
        switch text {
        case "none": return nil
        case "low": return .low
        case "normal": return .normal
        default: throw details.unexpected("sheds", text)
        }
    }
}
