import Testing

@testable import SwitchyardClient
@testable import SwitchyardTransport

@Suite struct JoinedCookiesTests {
    @Test(arguments: [
        ("a=1; Path=/, b=2", ["a=1; Path=/", "b=2"]),
        ("a=1,b=2,c=3", ["a=1", "b=2", "c=3"]),
        (
            "a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT; Path=/, b=; Expires=Thu, 01-Jan-70 00:00:00 GMT",
            ["a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT; Path=/", "b=; Expires=Thu, 01-Jan-70 00:00:00 GMT"]
        ),
        ("a=x,y; Secure", ["a=x,y; Secure"]),
        ("a=1", ["a=1"]),
        ("", [""]),
    ])
    func `Set-Cookie fields that URLSession has joined are split, but not at the comma of a date`(
        _ text: String,
        _ values: [String]
    ) {
        #expect(JoinedCookies.values(of: text) == values)
    }
}
