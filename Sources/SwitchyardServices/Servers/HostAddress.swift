import Foundation

/// Host names with characters outside ASCII.
package enum HostName {
    /// Returns the ASCII form of an internationalized host name (IDNA, UTS 46), as Foundation computes it.
    ///
    /// Returns `nil` if the name is pure ASCII or is not a valid host name.
    package static func ascii(_ name: ArraySlice<UInt8>) -> [UInt8]? {
        guard name.contains(where: { $0 > 127 }), name.allSatisfy({ $0 > 127 || isNameByte($0) }),
            let host = URLComponents(string: "http://\(String(decoding: name, as: UTF8.self))/")?.encodedHost
        else { return nil }
        let bytes = Array(host.utf8)
        guard !bytes.isEmpty, bytes.allSatisfy(isNameByte), IPv4Address.isPlausible(bytes[...]) else { return nil }
        return bytes
    }

    /// Whether an ASCII byte is allowed unencoded in a host name (RFC 3986 section 3.2.2).
    package static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "-._~!$&'()*+,;=".utf8.contains(byte)
        }
    }
}

/// The grammar of an IPv4 address in a URL.
package enum IPv4Address {
    /// Whether every resolver interprets a host in the same way: a host that ends in a number must be an IPv4 address
    /// of four decimal numbers.
    ///
    /// Some resolvers accept `127.1`, `0x7f.1` and `1.2.3.4.5` as addresses, other resolvers reject them. If a filter
    /// and the resolver interpret such an address differently, that is a security hole. These forms are therefore
    /// rejected.
    package static func isPlausible(_ host: ArraySlice<UInt8>) -> Bool {
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard let last = labels.last(where: { !$0.isEmpty }), isNumber(last) else { return true }
        return labels.count == 4 && labels.allSatisfy(isOctet)
    }

    private static func isNumber(_ label: ArraySlice<UInt8>) -> Bool {
        if label.allSatisfy(\.isDigit) { return true }
        guard label.first == UInt8(ascii: "0"), label.dropFirst().first.map({ $0 | 0x20 }) == UInt8(ascii: "x") else {
            return false
        }
        let letters = UInt8(ascii: "a")...UInt8(ascii: "f")
        return label.dropFirst(2).allSatisfy { $0.isDigit || letters.contains($0 | 0x20) }
    }

    private static func isOctet(_ label: ArraySlice<UInt8>) -> Bool {
        guard (1...3).contains(label.count), label.count == 1 || label.first != UInt8(ascii: "0") else { return false }
        return label.allSatisfy(\.isDigit) && UInt8(String(decoding: label, as: UTF8.self)) != nil
    }
}

/// The grammar of an IPv6 address in a URL (RFC 3986 section 3.2.2, RFC 6874).
package enum IPv6Address {
    /// Whether the bytes are an IPv6 address in brackets.
    ///
    /// - Parameters:
    ///   - bracketed: The bytes, with the brackets.
    ///   - allowsZone: Whether a link-local address may have a zone, as in `[fe80::1%25eth0]`. The zone is the network
    ///     interface of this machine through which the address is reached.
    /// - Returns: `true` if the address is valid.
    package static func isValid(_ bracketed: ArraySlice<UInt8>, allowsZone: Bool = false) -> Bool {
        guard bracketed.last == UInt8(ascii: "]"), bracketed.count > 2 else { return false }
        let (plain, zone) = parts(of: bracketed)
        guard let bytes = bytes(of: plain) else { return false }
        guard let zone else { return true }
        let isLinkLocal = bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
        return allowsZone && isLinkLocal && !zone.isEmpty && zone.allSatisfy(isZoneByte)
    }

    /// Removes the brackets of an address, and splits it at its zone (the name of a network interface).
    ///
    /// The zone is returned as written, or is `nil` if there is none.
    package static func parts(
        of bracketed: ArraySlice<UInt8>
    ) -> (address: ArraySlice<UInt8>, zone: ArraySlice<UInt8>?) {
        let inner = bracketed.dropFirst().dropLast()
        guard let mark = inner.firstIndex(of: UInt8(ascii: "%")) else { return (inner, nil) }
        guard inner[mark...].starts(with: "%25".utf8) else { return (inner, nil) }
        return (inner[..<mark], inner[(mark + 3)...])
    }

    /// Returns the 16 bytes of an address without brackets and zone, or `nil` if the text is not an IPv6 address.
    package static func bytes(of address: ArraySlice<UInt8>) -> [UInt8]? {
        var result = in6_addr()
        guard inet_pton(AF_INET6, String(decoding: address, as: UTF8.self), &result) == 1 else { return nil }
        return withUnsafeBytes(of: result) { Array($0) }
    }

    /// Whether a byte may be in a zone: an unreserved character, but not a percent sign, because no interface name has
    /// one.
    private static func isZoneByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "-._~".utf8.contains(byte)
        }
    }
}
