import Testing

@testable import SwitchyardTransport

/// The hosts that a list of exceptions matches.
@Suite struct ProxyExceptionsTests {
    @Test(arguments: [
        ("example.com", "example.com"), ("example.com", "www.example.com"), (".example.com", "www.example.com"),
        (".example.com", "example.com"), ("*.example.com", "www.example.com"), ("Example.COM.", "example.com"),
        ("example.com", "EXAMPLE.com."), ("a.test, b.test", "b.test"), ("a.test b.test", "b.test"),
        ("a.test,,\tb.test ", "b.test"), ("*", "anything.test"), ("a.test,*", "10.0.0.1"), ("10.0.0.1", "10.0.0.1"),
        ("10.0.0.0/8", "10.255.0.1"), ("192.168.4.0/23", "192.168.5.9"), ("0.0.0.0/0", "8.8.8.8"),
        ("::1", "[::1]"), ("[::1]", "[0:0:0:0:0:0:0:1]"), ("fe80::/10", "[fe80::1]"), ("[fd00::]/8", "[fd12::3]"),
        ("10.0.0.0/8", "[::ffff:10.1.2.3]"),
    ])
    func `a proxy exception matches the hosts that it covers`(_ list: String, _ host: String) {
        #expect(ProxyExceptions([list]).contains(host))
    }

    @Test(arguments: [
        ("", "example.com"), (",, ", "example.com"), ("example.com", "badexample.com"),
        ("www.example.com", "example.com"),
        ("10.0.0.0/8", "11.0.0.1"), ("192.168.4.0/23", "192.168.6.1"), ("10.0.0.1", "10.0.0.10"),
        ("10.0.0.0/33", "10.0.0.1"),
        ("10.0.0.0/", "10.0.0.0"), ("fe80::/10", "[fec0::1]"), ("::/0", "10.0.0.1"), ("0.0.0.1", "10.0.0.0.1"),
        (".", "example.com"), ("example.com/8", "example.com"),
    ])
    func `a proxy exception does not match other hosts`(_ list: String, _ host: String) {
        #expect(!ProxyExceptions([list]).contains(host))
    }
}
