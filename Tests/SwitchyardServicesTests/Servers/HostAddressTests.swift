import SwitchyardServices
import Testing

@Suite struct HostAddressTests {
    // RFC 6874 and RFC 4291 section 2.4: link-local addresses are those of fe80::/10.
    @Test(arguments: [
        ("[fe80::1%25eth0]", true), ("[febf::1%25eth0]", true), ("[fec0::1%25eth0]", false),
        ("[ff80::1%25eth0]", false), ("[2001:db8::1%25eth0]", false), ("[::1%25lo]", false), ("[fe80::1]", true),
        ("[2001:db8::1]", true),
    ])
    func `only a link-local IPv6 address may have a zone`(host: String, isValid: Bool) {
        #expect(IPv6Address.isValid(Array(host.utf8)[...], allowsZone: true) == isValid)
        #expect(IPv6Address.isValid(Array(host.utf8)[...]) == (isValid && !host.contains("%")))
    }
}
