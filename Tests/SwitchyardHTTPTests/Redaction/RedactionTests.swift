import Foundation
import SwitchyardClient
import SwitchyardDiagnostics
import SwitchyardFixtures
import SwitchyardHTTP
import SwitchyardOAuth
import SwitchyardRequests
import SwitchyardServices
import Testing

/// Values that are redacted by name or by form, in every place and output.
@Suite(.timeLimit(.minutes(5)), .prompt) struct RedactionTests {
    static let secret = "S3CR3T"
    static let webToken = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.S3CR3T"

    // MARK: Names

    @Test(arguments: [
        "jwt", "pass", "passwd", "pwd", "bearer", "x-api-key", "apikey", "apiKey", "API_KEY", "session", "sessionid",
        "session-id", "sid", "PHPSESSID", "JSESSIONID", "connect.sid", "ASP.NET_SessionId", "otp", "pin", "code",
        "assertion", "client_assertion", "clientAssertion", "SAMLResponse", "saml", "ticket", "signature", "sig",
        "X-Amz-Signature", "x-amz-credential", "xAmzSecurityToken", "private_key", "privateKey", "webhook",
        "webhookURL",
        "userPassword", "db_password", "user-pass", "userJWT", "my_otp", "stripe-secret-key", "fbAccessToken",
        "password2", "user[password]", "user.password.0", "access%5Ftoken", "useraccesstoken",
    ])
    func `the name of a secret is recognized in any spelling`(name: String) {
        #expect(Redaction.standard.hides(parameter: name))
        #expect(Redaction.standard.query("\(name)=\(Self.secret)&page=1") == "\(name)=***&page=1")
    }

    @Test(arguments: [
        "id", "uuid", "page", "cursor", "pageToken", "nextPageToken", "next_token", "continuation-token", "syncToken",
        "monkey", "tokens", "max_tokens", "passwordHint", "tokenType", "laptop", "compass_id", "zip_code",
        "countryCode",
        "sortKey", "etag", "date", "design", "keyword", "passenger", "X-Amz-Date",
    ])
    func `the value of an ordinary name is not redacted`(name: String) {
        #expect(!Redaction.standard.hides(parameter: name))
    }

    @Test(arguments: [
        "Proxy-Authenticate", "Proxy-Authorization", "WWW-Authenticate", "Authentication-Info", "Set-Cookie2",
        "Cookie2",
        "X-Forwarded-Access-Token", "X-Forwarded-Authorization", "X-Acme-Api-Key", "X-Acme-Secret",
        "X-Hub-Signature-256",
        "X-Session-Id", "X-Sid", "X-Amz-Security-Token", "X-Webhook", "X-JWT-Assertion",
    ])
    func `a header field with a secret name is redacted`(name: String) {
        #expect(!Redaction.standard.value("Digest \(Self.secret)", ofHeader: name).contains(Self.secret))
    }

    @Test func `an app can redact all names with a given ending`() {
        var redaction = Redaction.standard
        redaction.nameEndings.insert("voucher")

        #expect(redaction.url("/x?giftVoucher=a&page=2") == "/x?giftVoucher=***&page=2")
        #expect(redaction.value("a", ofHeader: "X-Gift-Voucher") == "***")
        #expect(Redaction.standard.url("/x?giftVoucher=a") == "/x?giftVoucher=a")
    }

    // MARK: Places

    static let urls: [(url: String, expected: String)] = [
        ("https://a/go?next=http://h/cb?access_token=S3CR3T", "https://a/go?next=http://h/cb?access_token=***"),
        (
            "https://a/go?next=http%3A%2F%2Fh%2Fcb%3Faccess_token%3DS3CR3T%26page%3D2",
            "https://a/go?next=http%3A%2F%2Fh%2Fcb%3Faccess_token%3D***%26page%3D2"
        ),
        (
            "https://a/go?next=http%253A%252F%252Fh%252Fcb%253Faccess_token%253DS3CR3T",
            "https://a/go?next=http%253A%252F%252Fh%252Fcb%253Faccess_token%253D***"
        ), ("https://a/go/http%3A%2F%2Fh%3Ftoken%3DS3CR3T", "https://a/go/http%3A%2F%2Fh%3Ftoken%3D***"),
        ("https://a/go?next=%2Flogin%3Fcode%3DS3CR3T&page=1", "https://a/go?next=%2Flogin%3Fcode%3D***&page=1"),
        ("https://a/go?next=https%3A%2F%2Fjoe%3AS3CR3T%40h%2F", "https://a/go?next=https%3A%2F%2F***%40h%2F"),
        ("https://a/x;jsessionid=S3CR3T/y;v=1?page=1", "https://a/x;jsessionid=***/y;v=1?page=1"),
        ("https://a/x#/cb?access_token=S3CR3T", "https://a/x#/cb?access_token=***"),
        ("https://a/x#id_token=S3CR3T&state=1", "https://a/x#id_token=***&state=1"),
        ("https://joe:S3CR3T@a/x", "https://***@a/x"), ("https://S3CR3T@a/x", "https://***@a/x"),
        ("https://a/verify/\(webToken)", "https://a/verify/***"), ("https://a/x?t=\(webToken)", "https://a/x?t=***"),
        ("https://a/x?sv=2&se=1&sig=S3CR3T", "https://a/x?sv=2&se=1&sig=***"),
        ("https://a/x?json=%7B%22token%22%3A%22S3CR3T%22%7D", "https://a/x?json=%7B%22token%22%3A%22***%22%7D"),
        ("https://hooks.a/services/T0/S3CR3TS3CR3TS3CR3T", "https://hooks.a/services/T0/***"),
        ("https://a/api/webhooks/7/S3CR3TS3CR3TS3CR3T", "https://a/api/webhooks/7/***"),
        ("https://a/reset-password/S3CR3TS3CR3TS3CR3T", "https://a/reset-password/***"),
    ]

    @Test(arguments: urls) func `secrets in a URL are redacted in every output`(url: String, expected: String) throws {
        let target = try #require(RequestURL(url.replacing("//S3CR3T@", with: "//joe@")))
        let request = HTTPRequest(url: target)
        let answer = HTTPResponse(status: 302, headers: ["Location": url, "X-From": url, "Link": "<\(url)>; rel=next"])
        let failure = TransportError(.other, message: "nothing at \(url), tried twice")
        let context = RequestContext(service: "s", environment: "test", method: .get, url: target)
        let entry = HARArchive.Entry(request, .success(answer), date: Date(), elapsed: .zero, redaction: .standard)
        let failed = HARArchive.Entry(request, .failure(failure), date: Date(), elapsed: .zero, redaction: .standard)

        #expect(Redaction.standard.url(url) == expected)
        #expect(Redaction.standard.text("see (\(url)), please") == "see (\(expected)), please")
        #expect(failure.description == "other: nothing at \(expected), tried twice")
        for text in [
            request.description, request.curlDescription(), context.description, "\(context)",
            answer.headers.redactedDescription,
            String(decoding: try HARArchive(entries: [entry, failed]).data(), as: UTF8.self),
        ] {
            #expect(!text.contains(Self.secret), "\(text)")
        }
    }

    @Test(arguments: [
        ("X-Note", "Bearer S3CR3T", "Bearer ***"), ("X-Note", "Token S3CR3T", "Token ***"),
        ("X-Note", "sent with Basic S3CR3Tabc==", "sent with Basic ***"),
        ("X-Note", #"Digest username="joe", response="S3CR3T""#, "Digest ***"), ("X-Note", webToken, "***"),
        ("Refresh", "5; url=/x?token=S3CR3T", "5; url=/x?token=***"),
        ("Refresh", "0;URL='http://h/?token=S3CR3T'", "0;URL='http://h/?token=***'"),
        ("Content-Location", "cb?token=S3CR3T", "cb?token=***"),
        ("X-Forwarded-Uri", "/cb?token=S3CR3T&page=1", "/cb?token=***&page=1"),
        ("X-Original-URL", "cb;jsessionid=S3CR3T", "cb;jsessionid=***"),
        ("X-Forwarded-Query", "token=S3CR3T&page=1", "token=***&page=1"), ("X-Info", "a=1, pwd=S3CR3T", "a=1, pwd=***"),
        ("X-Debug", #"{"token":"S3CR3T","page":1}"#, #"{"token":"***","page":1}"#),
        ("X-Key", "-----BEGIN PRIVATE KEY-----S3CR3T-----END PRIVATE KEY-----", "***"),
        ("X-Cert", "Cert=\"-----BEGIN%20KEY-----S3CR3T-----END%20KEY-----\"", "Cert=\"***\""),
    ])
    func `secrets in a header field with an ordinary name are redacted`(name: String, value: String, expected: String) {
        #expect(Redaction.standard.value(value, ofHeader: name) == expected)
        #expect(Redaction.none.value(value, ofHeader: name) == value)
    }

    @Test(
        arguments: [
            ("application/json", #"{"a":{"dbPassword":"S3CR3T","b":[{"api-key":1}]},"c":1}"#),
            ("application/json", #"{"url":"https:\/\/h\/cb?token=S3CR3T&page=1"}"#),
            ("application/json", #"{"payload":"{\"user\":{\"password\":\"S3CR3T\"}}"}"#),
            ("application/json", #"[{"name":"token","value":"S3CR3T"},{"name":"a","value":"b"}]"#),
            ("application/json", #"{"h":"Bearer S3CR3T","pem":"-----BEGIN KEY-----\nS3CR3T\n-----END KEY-----\n"}"#),
            ("application/x-www-form-urlencoded", "a=1&user%5Bpassword%5D=S3CR3T&next=%2F%3Ftoken%3DS3CR3T"),
            ("text/xml", "<a><ns:password t='1'>S3CR3T</ns:password><b apiKey=\"S3CR3T\" n='1'/></a>"),
            ("application/xml", "<a><u>http://h/?token=S3CR3T&amp;p=1</u><![CDATA[Bearer S3CR3T]]></a>"),
            ("application/xml", "<plist><dict><key>password</key><string>S3CR3T</string></dict></plist>"),
            ("application/xml", "<token>S3CR3T"), ("text/html", "<input name=\"csrf_token\" value=\"S3CR3T\">"),
            ("text/plain", "access_token=S3CR3T&token_type=bearer"),
            ("text/plain", "Cookie: a=S3CR3T; b=S3CR3T\r\nHost: h"),
            ("text/plain", "password: S3CR3T\napi_key = 'S3CR3T'"),
            ("text/event-stream", "data: {\"token\":\"S3CR3T\"}\n\n"),
            ("text/plain", #"log: {\"token\":\"S3CR3T\",\"page\":1}"#), (nil, "token=\"S3CR3T\""),
            (nil, "PASS S3CR3T"), (nil, "NICK a\r\nPASS oauth:S3CR3T\r\nJOIN b"), (nil, "AUTH user S3CR3T\r\n"),
            (nil, "AUTHENTICATE S3CR3T"), (nil, #"{"line":"PASS S3CR3T"}"#),
            ("multipart/mixed; boundary=x", "--x\r\nContent-Type: text/plain\r\n\r\n/?token=S3CR3T\r\n--x--\r\n"),
        ] as [(String?, String)]
    )
    func `secrets in a body are redacted`(type: String?, text: String) {
        let shown = String(decoding: Redaction.standard.body(Data(text.utf8), contentType: type), as: UTF8.self)

        #expect(!shown.contains(Self.secret), "\(shown)")
        #expect(shown.contains("***"))
    }

    @Test func `secrets in a body that is not UTF-8 are redacted`() {
        let body = Data(#"{"name":""#.utf8) + [0xE9] + Data(#"","token":"S3CR3T"}"#.utf8)

        let shown = Redaction.standard.body(body, contentType: "application/json; charset=iso-8859-1")

        #expect(shown == Data(#"{"name":""#.utf8) + [0xE9] + Data(#"","token":"***"}"#.utf8))
    }

    @Test func `a value that is nested too deeply is redacted completely`() {
        var url = "http://h/?token=S3CR3T"
        for _ in 0..<12 {
            url = "http://h/?next=\(url.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        }

        #expect(!Redaction.standard.url(url).contains(Self.secret))
        #expect(Redaction.standard.url(url).hasPrefix("http://h/?next="))
    }

    // MARK: Ordinary text

    @Test(arguments: [
        "GET https://a/users/123e4567-e89b-12d3-a456-426614174000/topics?page=2&cursor=eyJpZCI6MX0&pageToken=abc123DEF",
        "AUTH failed: PASS is missing", "BYPASS x1", "tests PASS x1", "pass x1 to AUTH", "PASS",
        "Basic authentication failed", "the token is invalid: unexpected end", "token expired", "bearer token missing",
        "W/\"33a64df551425fcc55e4d42a148795d9f25f89d4\"", "Thu, 26 Nov 2026 02:14:07 GMT",
        "attachment; filename=\"a.txt\"",
        "Could not resolve host: api.example.com", "com.example.app 1.2.3 (Build 4.5.6)",
        "max-age=1; includeSubDomains",
        "The parameter “user.password” must be a finite number, but is infinite or not a number.",
        "it's !1 \"$2\" at 12:30:01", "a=1&b=%20;c=2",
        #"{"id":"abc123","next":"https://a/x?page=2","n":[1,2.5e3,null]}"#, "<a b=\"c\">text<d/></a>",
        "h3=\":443\"; ma=86400",
    ])
    func `redaction does not change ordinary text`(text: String) {
        #expect(Redaction.standard.text(text) == text)
        #expect(Redaction.standard.value(text, ofHeader: "X-Note") == text)
        for type in [nil, "text/plain", "application/json", "text/xml"] {
            #expect(Redaction.standard.body(Data(text.utf8), contentType: type) == Data(text.utf8), "\(type ?? "-")")
        }
    }

    @Test(arguments: [
        "a=", "token: a ", "token a= ", "%25", "\"", "\"\\", "<", "<token>", "a=b,", "//", "eyJ.", "-----BEGIN ", "\\",
        "\"token\":", "http://", "{\"a\":[", "b='c' ", "b=\"", "a b", "Bearer ", "&amp;", "@:/", "a?b#",
    ])
    func `the time for redaction grows linearly with the length of the text`(piece: String) {
        // If the 12,000 bytes were scanned again for each byte, the test would take minutes.
        let text = "<a " + String(repeating: piece, count: 12_000 / piece.utf8.count)

        for type in ["text/plain", "application/json", "text/xml", "application/x-www-form-urlencoded"] {
            #expect(!Redaction.standard.body(Data(text.utf8), contentType: type).isEmpty)
        }
        #expect(!Redaction.standard.url(text).isEmpty)
    }

    // MARK: Outputs

    @Test func `description, debugDescription, interpolation and dump of public values show no secret`() throws {
        let url = try #require(RequestURL("https://joe:S3CR3T@a/x?token=S3CR3T"))
        let headers: HTTPHeaders = ["Authorization": "Bearer S3CR3T", "Set-Cookie": "sid=S3CR3T"]
        let request = HTTPRequest(method: .post, url: url, headers: headers, body: .data(Data("S3CR3T".utf8)))
        let answer = HTTPResponse(status: 401, headers: headers, body: .whole(Data("S3CR3T".utf8)))
        let context = RequestContext(service: "s", environment: "test", method: .get, url: url)
        var call = APIConfiguration(path: "x?token=S3CR3T", headers: headers)
        call.credential = .bearer("S3CR3T", refreshToken: "S3CR3T")
        let transport = TransportError(.other, message: "refused: Bearer S3CR3T at https://a/?token=S3CR3T")
        let failure = RequestFailure(.transport(transport), id: RequestID(), context: context)
        let values: [any RedactedDescribable] = [
            request, answer, context, call, transport, failure, failure.reason,
            ServiceResponse(id: RequestID(), response: answer, context: context),
            RedirectStep(status: 302, from: url, to: url, method: .get),
            Credential.basic(user: "joe", password: "S3CR3T"),
            InterceptorError(name: "rule", underlying: transport),
            RequestError.hook(stage: "signing", message: "token=S3CR3T"),
            OAuthError.refused(.invalidGrant, description: "token=S3CR3T"),
            RequestSigner.Method.sha256(secret: "S3CR3T"),
        ]

        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in [value.description, value.debugDescription, "\([value])", "\(Optional(value) as Any)", dumped] {
                #expect(!text.contains(Self.secret), "\(type(of: value)): \(text)")
                #expect(!text.isEmpty)
            }
        }
    }

    @Test func `URLs and header fields are redacted when their containers are printed`() throws {
        struct Holder {
            var url: RequestURL
            var headers: HTTPHeaders
            var fields: [HTTPHeaders.Field]
        }
        let url = try #require(RequestURL("https://a/x?token=S3CR3T&page=1"))
        let headers: HTTPHeaders = ["Authorization": "Bearer S3CR3T", "X-Trace": "7"]
        let holder = Holder(url: url, headers: headers, fields: headers.fields)
        var dumped = ""
        dump(holder, to: &dumped)

        for text in ["\(holder)", String(reflecting: holder), dumped] {
            #expect(!text.contains(Self.secret), "\(text)")
            #expect(text.contains("page=1") && text.contains("X-Trace: 7"))
        }
        #expect("\(url)" == "https://a/x?token=S3CR3T&page=1")
    }
}
