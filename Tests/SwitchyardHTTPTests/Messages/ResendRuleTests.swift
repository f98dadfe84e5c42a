import Testing

@testable import SwitchyardHTTP

@Suite struct ResendRuleTests {
    @Test(arguments: [
        ("GET", ResendRule.anytime), ("HEAD", .anytime), ("OPTIONS", .anytime), ("TRACE", .anytime),
        ("QUERY", .anytime),
        ("PUT", .afterFinalResponse), ("DELETE", .afterFinalResponse), ("POST", .onlyIfUnsent),
        ("PATCH", .onlyIfUnsent),
        ("MKCOL", .onlyIfUnsent), ("put", .onlyIfUnsent),
    ])
    func `the method gives the rule, and a key or the app's word another one`(name: String, rule: ResendRule) throws {
        let method = try #require(HTTPMethod(name))

        #expect(ResendRule(method) == rule)
        #expect(ResendRule(method, hasIdempotencyKey: true) == .anytime)
        #expect(ResendRule(method, mayBeRepeated: true) == .anytime)
        #expect(ResendRule(method, mayBeRepeated: false, hasIdempotencyKey: true) == .onlyIfUnsent)
    }

    @Test func `a request of a transport follows its method unless it says otherwise`() throws {
        var request = HTTPRequest(method: .put, url: try RequestURL(validating: "http://a.test/"))
        let own = request.resendRule
        request.mayBeRepeated = true

        #expect(own == .afterFinalResponse)
        #expect(request.resendRule == .anytime)
    }

    @Test(arguments: [
        ([421], RequestFate.unsent),
        ([300, 304, 307, 308, 400, 401, 403, 404, 409, 412, 413, 422, 425, 429, 431], .refused),
        ([200, 201, 204, 206, 302, 303, 500, 501, 503, 505, 507, 508, 511, 521, 523, 525, 526, 530], .done),
        ([202, 408, 460, 499, 502, 504, 520, 522, 524, 529, 598, 599, 999], .open),
    ])
    func `a status says what has become of the request`(statuses: [Int], fate: RequestFate) {
        for status in statuses { #expect(RequestFate(status: status, to: .put) == fate, "\(status)") }
    }

    @Test func `a 301 after a POST leads to a result, and after a PUT to another place`() {
        #expect(RequestFate(status: 301, to: .post) == .done)
        #expect(RequestFate(status: 301, to: .put) == .refused)
    }

    @Test func `a connection that breaks after sending leaves everything open`() {
        for kind in TransportError.Kind.allCases {
            #expect(RequestFate(TransportError(kind, message: "", mayHaveBeenSent: true)) == .open)
            #expect(RequestFate(TransportError(kind, message: "", mayHaveBeenSent: false)) == .unsent)
        }
    }

    @Test func `each rule allows to send again after some fates`() {
        let fates = [RequestFate.unsent, .refused, .done, .open]

        #expect(fates.map { ResendRule.anytime.allowsResend(after: $0) } == [true, true, true, true])
        #expect(fates.map { ResendRule.afterFinalResponse.allowsResend(after: $0) } == [true, true, true, false])
        #expect(fates.map { ResendRule.onlyIfUnsent.allowsResend(after: $0) } == [true, false, false, false])
        #expect(
            fates.map { ResendRule.onlyIfUnsent.allowsResend(afterChallengeWith: $0) } == [true, true, false, false]
        )
    }
}
