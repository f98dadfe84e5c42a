import SwitchyardClient

/// A member whose call has an owner.
protocol OwnedMember {
    /// Whose call it is; `nil` for one that is bound to nobody.
    var owner: CallOwner? { get }
}

extension GroupMember {
    var callOwner: CallOwner? { (self as? any OwnedMember)?.owner }
}

extension APIRequest: OwnedMember {
    var owner: CallOwner? { configuration.outlivesLogout ? nil : configuration.callOwner }
}
