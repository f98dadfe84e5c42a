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
    func `the method determines the resend rule unless an idempotency key or mayBeRepeated overrides it`(
        name: String,
        rule: ResendRule
    ) throws {
        let method = try #require(HTTPMethod(name))

        #expect(ResendRule(method) == rule)
        #expect(ResendRule(method, hasIdempotencyKey: true) == .anytime)
        #expect(ResendRule(method, mayBeRepeated: true) == .anytime)
        #expect(ResendRule(method, mayBeRepeated: false, hasIdempotencyKey: true) == .onlyIfUnsent)
    }

    @Test func `the resend rule of an HTTPRequest follows its method unless mayBeRepeated overrides the rule`() throws {
        var request = HTTPRequest(method: .put, url: try RequestURL(validating: "http://a.test/"))
        let own = request.resendRule
        request.mayBeRepeated = true

        #expect(own == .afterFinalResponse)
        #expect(request.resendRule == .anytime)
    }

    @Test(arguments: [
        ([421], RequestFate.unsent),
        ([300, 304, 307, 308, 400, 401, 403, 404, 409, 412, 413, 422, 425, 429, 431], .refused),
        ([200, 201, 204, 206, 302, 303, 500, 501, 505, 507, 508, 511, 521, 523, 525, 526, 530], .done),
        ([202, 408, 460, 499, 502, 503, 504, 520, 522, 524, 529, 598, 599, 999], .open),
    ])
    func `the RequestFate of a status states whether the server executed the request`(
        statuses: [Int],
        fate: RequestFate
    ) {
        for status in statuses { #expect(RequestFate(status: status, to: .put) == fate, "\(status)") }
    }

    @Test func `a 301 means that a POST has been executed and that a PUT has been refused`() {
        #expect(RequestFate(status: 301, to: .post) == .done)
        #expect(RequestFate(status: 301, to: .put) == .refused)
    }

    @Test func `after a transport error, the RequestFate is open unless the request was not sent`() {
        for kind in TransportError.Kind.allCases {
            #expect(RequestFate(TransportError(kind, message: "", mayHaveBeenSent: true)) == .open)
            #expect(RequestFate(TransportError(kind, message: "", mayHaveBeenSent: false)) == .unsent)
        }
    }

    @Test func `each ResendRule allows a resend after its own set of RequestFate values`() {
        let fates = [RequestFate.unsent, .refused, .done, .open]

        #expect(fates.map { ResendRule.anytime.allowsResend(after: $0) } == [true, true, true, true])
        #expect(fates.map { ResendRule.afterFinalResponse.allowsResend(after: $0) } == [true, true, true, false])
        #expect(fates.map { ResendRule.onlyIfUnsent.allowsResend(after: $0) } == [true, false, false, false])
        #expect(
            fates.map { ResendRule.onlyIfUnsent.allowsResend(afterChallengeWith: $0) } == [true, true, false, false]
        )
    }
}
