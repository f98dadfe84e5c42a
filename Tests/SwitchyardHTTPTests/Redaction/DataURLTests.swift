import Testing

@testable import SwitchyardHTTP

@Suite struct DataURLTests {
    // RFC 2397. A line of an event stream starts with the same word.
    @Test(arguments: [
        ("data:,x", true), ("DATA:;base64,eA==", true), ("data:text/plain,x", true), ("data:;base64", false),
        ("data:text/plain", false), ("data: {\"a\":1,\"b\":2}", false), ("data:", false),
        ("data:;" + String(repeating: "a", count: 300) + ",x", false),
    ])
    func `a text is recognized as a data URL by its short head and the comma after it`(text: String, isURL: Bool) {
        #expect(SecretWalk.isDataURL(Array(text.utf8)[...]) == isURL)
    }
}
