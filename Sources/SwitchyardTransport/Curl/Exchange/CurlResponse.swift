#if os(Linux)
    import CLibcurl
    import Foundation
    import SwitchyardHTTP

    /// Functions that turn the received data of an exchange into the parts of a response.
    enum CurlResponse {
        /// Returns the body received so far, and removes it from the handle.
        static func takeBody(of handle: OpaquePointer) -> Data {
            var count = 0
            // Copying a small body is cheaper than giving the handle a new buffer.
            if let bytes = ycurl_body_bytes(handle, &count), count <= 4096 {
                defer { ycurl_body_clear(handle) }
                return Data(bytes: bytes, count: count)
            }
            guard let bytes = ycurl_body_take(handle, &count) else { return Data() }
            return Data(bytesNoCopy: bytes, count: count, deallocator: .free)
        }

        static func metrics(of handle: OpaquePointer) -> TransferMetrics {
            var measured = ycurl_metrics()
            ycurl_measure(handle, &measured)
            var metrics = TransferMetrics(total: .microseconds(measured.total))
            metrics.nameLookup = duration(measured.name_lookup)
            metrics.connected = duration(measured.connected)
            metrics.secured = duration(measured.secured)
            metrics.firstByte = duration(measured.first_byte)
            metrics.bytesSent = measured.sent
            metrics.bytesReceived = measured.received
            metrics.reusedConnection = measured.reused
            metrics.networkProtocol = protocolName(measured.http_version)
            return metrics
        }

        private static func duration(_ microseconds: Int64) -> Duration? {
            microseconds > 0 ? .microseconds(microseconds) : nil
        }

        private static func protocolName(_ version: Int) -> String? {
            switch version {
            case 1: "http/1.0"
            case 2: "http/1.1"
            case 3: "h2"
            case 30: "h3"
            default: nil
            }
        }

        // MARK: The head

        /// Splits a head into fields: all lines after the first, up to the empty line.
        static func parse(_ head: UnsafeRawBufferPointer) -> HTTPHeaders {
            var fields: [HTTPHeaders.Field] = []
            fields.reserveCapacity(12)
            var rest = head[...]
            _ = takeLine(of: &rest)
            // The lines of a folded field are joined only once, because a server may send very many such lines.
            var folds: [String] = []
            while let line = takeLine(of: &rest), let first = line.first {
                if isBlank(first) {
                    // White space at the ends of a line is not part of the value, even if the value before or after the
                    // fold is empty.
                    folds.append(field("", trimmed(line)).echo)
                    continue
                }
                if !folds.isEmpty { unfold(&folds, into: &fields) }
                if let colon = index(of: UInt8(ascii: ":"), in: line) {
                    let value = trimmed(line[(colon + 1)...])
                    fields.append(field(text(trimmed(line[..<colon])), value))
                }
            }
            if !folds.isEmpty { unfold(&folds, into: &fields) }
            return HTTPHeaders(fields)
        }

        private static func takeLine(of rest: inout Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer>? {
            guard !rest.isEmpty else { return nil }
            let end = index(of: UInt8(ascii: "\n"), in: rest) ?? rest.endIndex
            var line = rest[..<end]
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            rest = rest[min(end + 1, rest.endIndex)...]
            return line
        }

        /// Returns the first index of a byte.
        ///
        /// `memchr` is used because it compares many bytes at a time.
        private static func index(of byte: UInt8, in bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
            guard let start = bytes.base.baseAddress, !bytes.isEmpty else { return nil }
            return memchr(start + bytes.startIndex, Int32(byte), bytes.count).map { UnsafeRawPointer($0) - start }
        }

        /// Joins lines that start with white space to the preceding field (RFC 9112 section 5.2).
        private static func unfold(_ folds: inout [String], into fields: inout [HTTPHeaders.Field]) {
            defer { folds.removeAll() }
            guard let last = fields.popLast() else { return }
            fields.append(.init(name: last.name, echo: ([last.echo] + folds).joined(separator: " ")))
        }

        private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
            var bytes = bytes
            while let first = bytes.first, isBlank(first) { bytes.removeFirst() }
            while let last = bytes.last, isBlank(last) { bytes.removeLast() }
            return bytes
        }

        private static func isBlank(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
        }

        private static func field(_ name: String, _ value: Slice<UnsafeRawBufferPointer>) -> HTTPHeaders.Field {
            let text = text(value)
            // If the text has more UTF-8 bytes than the value, the value was Latin-1, which has one byte per character.
            let isLatin1 = text.utf8.count != value.count
            return isLatin1 ? .init(name: name, latin1: text) : .init(name: name, value: text)
        }

        /// Returns the text as UTF-8 if it is valid, otherwise as Latin-1, which old servers use.
        private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
            let whole = UnsafeRawBufferPointer(rebasing: bytes)
            // Header fields are nearly always ASCII, for which this check is faster than general UTF-8 validation.
            if whole.allSatisfy({ $0 < 0x80 }) { return String(decoding: whole, as: UTF8.self) }
            return String(validating: whole, as: UTF8.self)
                ?? String(String.UnicodeScalarView(whole.map { Unicode.Scalar($0) }))
        }
    }
#endif
